"""A paper of a project that a test made becomes one of ours."""

import sys
from contextlib import contextmanager

import pytest

from kbrepro import papers


@contextmanager
def registered(root):
    """The paper `toy` of a project is one of ours for a while."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(papers, "__path__", [*papers.__path__, str(root / "kbrepro" / "papers")])
        forget()
        yield
    forget()


def forget():
    """Its modules are read again."""
    papers.found.cache_clear()
    vars(papers).pop("toy", None)
    for name in [name for name in sys.modules if name.startswith("kbrepro.papers.toy")]:
        del sys.modules[name]
