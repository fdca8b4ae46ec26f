"""Calandriello et al. (2019), BKB: dictionaries, the policy, experiments."""
