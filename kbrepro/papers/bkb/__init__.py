"""Calandriello et al. (2019), BKB: dictionaries, policies, starvation, what is proved, costs, and
mini-GP-UCB since.
"""
