"""Janz, Burt and González (2020), π-GP-UCB: cells that split, exact IGP-UCB on many arms,
problems.
"""
