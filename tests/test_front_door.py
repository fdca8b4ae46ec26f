"""`import kbrepro as kb`: what it gives, and what it does not load."""

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np

import kbrepro as kb

OWN = (Path(__file__).parents[1] / "docs" / "own_problem.md").read_text(encoding="utf-8")

NUMERIC = (
    "numpy, scipy.fft, scipy.linalg, scipy.spatial.distance, scipy.special, threadpoolctl, tqdm"
)
#: Of the claims the public estimator alone.
CLAIMS = {"claims.estimates", "claims.replication"}
LOADED = """
import json, sys, time
start = time.perf_counter()
import {packages}
seconds = time.perf_counter() - start
print(json.dumps([seconds, sorted(sys.modules)]))
"""


def loaded(packages):
    """Seconds that an import takes in a new program, and the names of all modules that it has
    then.
    """
    code = LOADED.format(packages=packages)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    seconds, modules = json.loads(done.stdout)
    return seconds, set(modules)


def test_the_package_loads_nothing_but_numbers(capsys):
    (seconds, ours), (of_the_numeric, theirs) = loaded("kbrepro"), loaded(NUMERIC)
    with capsys.disabled():
        print(
            f" import kbrepro: {seconds:.2f} s; the numeric packages alone:"
            f" {of_the_numeric:.2f} s ",
            end="",
        )
    others = {name.partition(".")[0] for name in ours - theirs} - sys.stdlib_module_names
    assert others - {"__mp_main__"} == {"kbrepro"}
    heavy = {
        "IPython",
        "click",
        "joblib",
        "matplotlib",
        "pandas",
        "papermill",
        "scipy.stats",
        "seaborn",
        "yaml",
    }
    assert not heavy & ours
    parts = {name.split(".", 1)[1] for name in ours if name.startswith("kbrepro.")}
    assert {part for part in parts if part.startswith("claims.")} == CLAIMS
    assert not {part.partition(".")[0] for part in parts} & {"batch", "data", "figures", "papers"}


def test_every_name_is_there_is_explained_and_nothing_else_is():
    assert sorted(kb.__all__) == sorted(set(kb.__all__))
    for name in kb.__all__:
        assert getattr(kb, name).__doc__, name
    modules = {name for name in vars(kb) if f"kbrepro.{name}" in sys.modules}
    assert {name for name in vars(kb) if not name.startswith("_")} - modules == set(kb.__all__)


def test_what_the_page_on_own_problems_says_runs(monkeypatch):
    """Its codes run one after the other, and both of its policies play on a known problem."""
    monkeypatch.setenv("KBREPRO_JOBS", "1")
    rng = np.random.default_rng(5)
    scope = {
        "measure": lambda x: float(x.sum() + 0.1 * rng.standard_normal()),
        "__name__": "example",
    }
    codes = re.findall(r"```python\n(.*?)```", OWN, flags=re.S)
    assert len(codes) == 4
    for code in codes:
        exec(code, scope)
    ours, mine = (
        scope["traces"][name].cumulative_regret[:, -1].mean() for name in ("GP-UCB/5", "mine")
    )
    assert 0 < ours < mine  # more is learned by GP-UCB/5
    assert scope["policy"].t == 51 and scope["best"].sum() > 1.6
    problem = kb.Problem(scope["model"], scope["points"].sum(axis=1))
    policies = {name: scope[name] for name in ("Mine", "Uniform")}
    traces = kb.run_trials(kb.Experiment(kb.Known(problem), policies, 30), 2, 6)
    assert {name: trace.arms.shape for name, trace in traces.items()} == {
        "Mine": (2, 30),
        "Uniform": (2, 30),
    }
