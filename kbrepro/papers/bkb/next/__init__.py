"""The next edition of the plan and the claims on BKB."""
