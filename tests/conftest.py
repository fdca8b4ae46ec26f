"""One worker with one BLAS thread: on matrices of this size more of them wait for each other.

And what tests of figures share; they alone load matplotlib.
"""

import json
import shutil
from types import SimpleNamespace

import pytest
from registering import registered
from threadpoolctl import threadpool_limits


@pytest.fixture(autouse=True, scope="session")
def one_core():
    with threadpool_limits(1, user_api="blas"), pytest.MonkeyPatch.context() as patch:
        patch.setenv("KBREPRO_JOBS", "1")
        patch.setenv("TQDM_DISABLE", "1")
        yield


@pytest.fixture
def styled():
    """House style, and matplotlib's own afterwards."""
    import matplotlib.pyplot as plt

    from kbrepro import figures, papers

    with plt.rc_context():
        figures.use_style(papers.looks())
        yield
        plt.close("all")


@pytest.fixture
def check_readable():
    """Assert of a figure: no type below 8 pt, nothing but ticks outside it."""
    from matplotlib.text import Text

    def check(figure):
        figure.draw_without_rendering()
        ticks = {
            id(text)
            for ax in figure.axes
            for axis in (ax.xaxis, ax.yaxis)
            for text in axis.get_ticklabels(which="both")
        }
        for text in figure.findobj(Text):
            if text.get_visible() and text.get_text().strip() and id(text) not in ticks:
                box = Text.get_window_extent(text)
                assert text.get_fontsize() >= 8 and box.x0 > -1 and box.y0 > -1, text
                assert box.x1 < figure.bbox.x1 + 1 and box.y1 < figure.bbox.y1 + 1, text

    return check


FULL = {"seed": 1, "trials": 12, "horizon": 30, "results_dir": ""}


def play(folder, **changed):
    """Play its Fig. 1 into a store."""
    from kbrepro.batch.plans import plan_of
    from kbrepro.trials import store

    plan = plan_of("09_toy", FULL | changed, load=None)
    return plan["Fig. 1"].play("Fig. 1", store.Store(folder))


@pytest.fixture(scope="session")
def toy_project(tmp_path_factory):
    """A project with a paper made by `kbrepro new`, whose full scale is kept."""
    from kbrepro.batch import new
    from kbrepro.trials.replay import blas_kernel

    root = tmp_path_factory.mktemp("toy") / "project"
    new.add(root, "09", "toy")
    folder = root / "results" / "paper" / "09_toy"
    with registered(root):
        play(folder / "played")
    facts = {
        "parameters": {"seed": 1, "trials": 12, "horizon": 30},
        "blas_kernels": [blas_kernel()],
    }
    (folder / "run.json").write_text(json.dumps(facts), encoding="utf-8")
    return root


@pytest.fixture
def toy(toy_project, tmp_path, monkeypatch):
    """A copy of it to work in: its `root`, its `folder` of results, and `play`, which plays its
    Fig. 1.
    """
    shutil.copytree(toy_project, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    with registered(tmp_path):
        yield SimpleNamespace(
            root=tmp_path, folder=tmp_path / "results" / "paper" / "09_toy", play=play
        )


@pytest.fixture
def checked(check_readable):
    """A figure of a notebook, which fits a page and can be read, and its title."""
    from kbrepro import figures

    def title_of(figure):
        check_readable(figure)
        assert figure.get_size_inches()[0] <= figures.WIDTH
        return figure.get_suptitle()

    return title_of
