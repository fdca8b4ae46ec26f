"""How many workers there are, and how much memory they use."""

import os
import subprocess
import sys

from kbrepro.batch import process, provenance


def test_workers_are_those_asked_for_else_of_the_environment_else_the_processors(monkeypatch):
    monkeypatch.setenv("KBREPRO_JOBS", "5")
    assert (provenance.workers(3), provenance.workers("4"), provenance.workers(None)) == (3, 4, 5)
    monkeypatch.delenv("KBREPRO_JOBS")
    assert provenance.workers(None) == os.cpu_count()


def test_memory_is_that_of_a_process_and_its_descendants():
    hold = "x = bytearray(b'1' * 80_000_000); print('ready', flush=True); input()"
    nested = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {hold!r}])"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", nested], **pipes) as child:
        assert child.stdout.readline() == "ready\n"
        assert 80 < process.megabytes(child.pid) < 400
        child.communicate("\n")
    assert process.megabytes(child.pid) == 0
