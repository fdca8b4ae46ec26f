"""Calandriello et al. (2019), BKB: dictionaries, starvation, costs, and mini-GP-UCB since."""
