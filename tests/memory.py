"""A machine of little memory."""

from types import SimpleNamespace

import psutil


def leave(monkeypatch, available):
    """Say that so many bytes are free."""
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=available))
