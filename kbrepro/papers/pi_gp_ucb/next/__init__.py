"""The next edition of what the notebook on π-GP-UCB plays, and of the claims."""
