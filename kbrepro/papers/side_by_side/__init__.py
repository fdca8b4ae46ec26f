"""All policies side by side, and rules that are near-optimal on paper."""
