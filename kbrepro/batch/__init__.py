"""Runs notebooks, keeps their results whole, makes the report."""
