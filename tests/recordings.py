"""Recorded runs of other people's code, in tests/recorded/ (docs/checked.md says whose)."""

import json
from pathlib import Path


def recorded(name):
    """Return what a file holds."""
    path = Path(__file__).with_name("recorded") / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8"))
