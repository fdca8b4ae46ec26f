"""A paper that nobody wrote: its policy sees two layers."""
