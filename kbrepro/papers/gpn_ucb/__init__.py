"""Li and Scarlett (2024), GPN-UCB: function networks, sets carried through them, rivals."""
