"""All policies side by side: rules that are near-optimal on paper, and what the notebook on them
plays and measures.
"""
