"""The next edition of the claims and the plan on GPN-UCB, until it is played."""
