"""Calls that must be refused, as a table."""

import pytest


def refuses(*cases):
    """Assert of (call, words), or (call, words, error), that each raises ValueError, or the error,
    with the words.
    """
    for call, words, *error in cases:
        with pytest.raises(*error or [ValueError], match=words):
            call()
