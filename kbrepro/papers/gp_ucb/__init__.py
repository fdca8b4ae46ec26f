"""Srinivas et al. (2010), GP-UCB: widths, bounds on the gain, rules since the paper."""
