"""One BLAS thread, as in the workers of the package: on matrices of this size more of them wait for each other.

And what tests of figures share; they alone load matplotlib.
"""

import json
from itertools import combinations
from pathlib import Path

import pytest
from threadpoolctl import threadpool_limits


@pytest.fixture(autouse=True, scope="session")
def one_blas_thread():
    with threadpool_limits(1, user_api="blas"):
        yield


@pytest.fixture
def styled():
    """House style, and matplotlib's own afterwards."""
    import matplotlib.pyplot as plt

    from kbrepro import figures

    with plt.rc_context():
        figures.use_style()
        yield
        plt.close("all")


@pytest.fixture
def check_readable():
    """Assert of a figure: no type below 8 pt, no text outside it, no label of a curve on another."""
    from matplotlib.text import Annotation, Text

    def check(figure):
        figure.draw_without_rendering()
        shown = [text for text in figure.findobj(Text) if text.get_visible() and text.get_text().strip()]
        axes = [axis for ax in figure.axes for axis in (ax.xaxis, ax.yaxis)]
        ticks = {id(text) for axis in axes for text in axis.get_ticklabels(which="both")}
        assert min(text.get_fontsize() for text in shown) >= 8
        for text in shown:
            box = Text.get_window_extent(text)
            if id(text) not in ticks:  # of these, some lie beyond the limits and are not drawn
                assert box.x0 > -1 and box.y0 > -1, text
                assert box.x1 < figure.bbox.x1 + 1 and box.y1 < figure.bbox.y1 + 1, text
        boxes = [Text.get_window_extent(text) for text in shown if isinstance(text, Annotation)]
        for one, other in combinations(boxes, 2):
            assert not one.overlaps(other) or min(one.y1, other.y1) - max(one.y0, other.y0) < 2  # pixels of descenders

    return check


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """A project with the toy paper of tests/toy, whose full scale is kept; `toy(...)` plays its Fig. 1 in the store."""
    import sys
    from functools import partial

    from kbrepro import papers, store
    from kbrepro.replay import blas_kernel
    from kbrepro.simulation import Experiment, run_trials

    here = Path(__file__).parent / "toy" / "kbrepro" / "papers"
    monkeypatch.setattr(papers, "__path__", [*papers.__path__, str(here)])
    papers.found.cache_clear()
    for name in ("notebooks", "kbrepro"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KBREPRO_JOBS", "1")
    monkeypatch.delenv("KBREPRO_STORE", raising=False)
    monkeypatch.setattr(store, "_in_use", [])
    from kbrepro.papers.toy.policy import Both, Hills

    def play(trials=12, label="Fig. 1", horizon=30):
        rules = {name: partial(Both, width=width) for name, width in (("Both", 2.0), ("Both, cautious", 5.0))}
        return run_trials(Experiment(Hills(30), rules, horizon), trials, 1, label=label)

    play.root, play.folder = tmp_path, tmp_path / "results" / "paper" / "09_toy"
    with store.using(store.Store(play.folder / "played")):
        play()
    parameters = {"seed": 1, "trials": 12, "horizon": 30}
    facts = {"parameters": parameters, "blas_kernels": [blas_kernel()]}
    (play.folder / "run.json").write_text(json.dumps(facts), encoding="utf-8")
    yield play
    papers.found.cache_clear()
    for name in [name for name in sys.modules if name.startswith("kbrepro.papers.toy")]:
        del sys.modules[name]


@pytest.fixture
def checked(check_readable):
    """A figure of a notebook, which fits a page and can be read, and its title."""
    from kbrepro import figures

    def title_of(figure):
        check_readable(figure)
        assert figure.get_size_inches()[0] <= figures.WIDTH
        return figure.get_suptitle()

    return title_of
