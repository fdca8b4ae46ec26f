"""Li and Scarlett (2024), GPN-UCB: function networks, confidence sets carried through them,
rivals.
"""
