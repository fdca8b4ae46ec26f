"""Janz, Burt and González (2020), π-GP-UCB: cells that split, and problems on grids."""
