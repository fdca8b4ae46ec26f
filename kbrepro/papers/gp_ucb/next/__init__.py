"""Plan and claims of the next edition of the notebook on GP-UCB."""
