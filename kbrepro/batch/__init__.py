"""Runs notebooks, keeps their results whole, makes the report, plays a reader's policy beside the
papers'.
"""
