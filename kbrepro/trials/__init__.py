"""Playing trials, keeping them, and reading them back."""
