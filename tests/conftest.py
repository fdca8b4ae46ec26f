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
def judged_again():
    """Judge the numbers of a record once more by a claim of the rules, and by its interpretations."""
    from kbrepro.regret import Estimate
    from kbrepro.verdicts import claims

    def again(claim, record):
        given = {n: Estimate(*(p[k] for k in ("value", "low", "high"))) for n, p in record["parts"].items()}
        new = claims.judged(claim, given, record["note"])
        return new | (claims.crossed(claim, new["verdict"], its) if (its := record.get("interpretations")) else {})

    return again


@pytest.fixture
def check_kept(monkeypatch):
    """Assert that what was played at full scale has the committed R_T / T of every trial, to six digits."""
    import numpy as np
    import pandas as pd

    import kbrepro as kb
    from kbrepro.verdicts import claims

    def check(notebook, label, table, ranges=None):
        monkeypatch.chdir(Path(__file__).parents[1])
        folder = Path("results") / "paper" / notebook
        if not kb.store.path_of(folder / "played", label).is_file():
            pytest.skip(f"{label!r} of {notebook} is not kept yet")
        run = json.loads((folder / "run.json").read_text(encoding="utf-8"))
        edition = claims.load(Path("notebooks") / "claims" / f"{notebook}.yaml").edition
        if edition.seed != run["parameters"]["seed"]:
            pytest.skip(f"{notebook} is being played, and its tables are those of the edition before")
        committed = pd.read_csv(folder / "tables" / f"{table}_average_regret_per_trial.csv", index_col="trial")
        traces = kb.played(notebook, label).traces
        if ranges is not None:
            traces = {name: trace.scaled(np.asarray(ranges(kb.played))) for name, trace in traces.items()}
        assert list(committed) == list(traces)
        for name, trace in traces.items():
            assert [f"{x:.6g}" for x in trace.average_regret[:, -1]] == [f"{x:.6g}" for x in committed[name]], name

    return check


@pytest.fixture
def checked(check_readable):
    """A figure of a notebook, which fits a page and can be read, and its title."""
    from kbrepro import figures

    def title_of(figure):
        check_readable(figure)
        assert figure.get_size_inches()[0] <= figures.WIDTH
        return figure.get_suptitle()

    return title_of
