"""How many workers there are."""

import os

from kbrepro.batch import provenance


def test_workers_are_those_asked_for_else_of_the_environment_else_the_processors(monkeypatch):
    monkeypatch.setenv("KBREPRO_JOBS", "5")
    assert (provenance.workers(3), provenance.workers("4"), provenance.workers(None)) == (3, 4, 5)
    monkeypatch.delenv("KBREPRO_JOBS")
    assert provenance.workers(None) == os.cpu_count()
