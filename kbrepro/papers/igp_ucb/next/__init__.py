"""The next edition of the notebook on IGP-UCB and GP-TS: its plan and its claims."""
