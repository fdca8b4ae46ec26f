"""The next edition of the notebook side by side: its plan and its claims, to be frozen."""
