"""`import kbrepro as kb`: what it gives, and what it does not load."""

import json
import re
import subprocess
import sys

import numpy as np
from pages import blocks, page, run

import kbrepro as kb
from kbrepro.bandits.posterior import DRAWS, LEAST_NOISE

NUMERIC = (
    "numpy, scipy.fft, scipy.linalg, scipy.spatial.distance, scipy.special, threadpoolctl, tqdm"
)
#: Of the claims the public estimator alone.
CLAIMS = {"claims.estimates", "claims.replication"}


def loaded(packages):
    """The names of all modules that a new program has after an import."""
    code = f"import json, sys\nimport {packages}\nprint(json.dumps([*sys.modules]))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout))


def test_the_package_loads_nothing_but_numbers():
    ours, theirs = loaded("kbrepro"), loaded(NUMERIC)
    others = {name.partition(".")[0] for name in ours - theirs} - sys.stdlib_module_names
    assert others - {"__mp_main__"} == {"kbrepro"}
    assert "scipy.stats" not in ours
    parts = {name.split(".", 1)[1] for name in ours if name.startswith("kbrepro.")}
    assert {part for part in parts if part.startswith("claims.")} == CLAIMS
    assert not {part.partition(".")[0] for part in parts} & {"batch", "data", "figures", "papers"}


def test_every_name_is_there_is_explained_and_nothing_else_is():
    assert sorted(kb.__all__) == sorted(set(kb.__all__))
    for name in kb.__all__:
        assert getattr(kb, name).__doc__, name
    modules = {name for name in vars(kb) if f"kbrepro.{name}" in sys.modules}
    assert {name for name in vars(kb) if not name.startswith("_")} - modules == set(kb.__all__)


def test_what_the_page_on_own_problems_says_runs():
    """Its codes run one after the other, and both of its policies play on a known problem."""
    rng = np.random.default_rng(5)
    codes = blocks(page("docs/own_problem.md"), "python")
    assert len(codes) == 4
    scope = run(codes, measure=lambda x: float(x.sum() + 0.1 * rng.standard_normal()))
    lost = {name: trace.cumulative_regret[:, -1].mean() for name, trace in scope["traces"].items()}
    assert 0 < lost["GP-UCB/5"] < lost["mine"]  # more is learned by GP-UCB/5
    assert scope["policy"].t == 51 and scope["best"].sum() > 1.6
    problem = kb.Problem(scope["model"], scope["points"].sum(axis=1))
    policies = {name: scope[name] for name in ("Mine", "Uniform")}
    traces = kb.run_trials(kb.Experiment(kb.Known(problem), policies, 30), 2, 6)
    assert [trace.arms.shape for trace in traces.values()] == [(2, 30), (2, 30)]


def test_the_least_noise_is_that_of_the_page_on_own_problems():
    named = re.findall(r"\n\| (1e-\d+) \|", page("docs/own_problem.md"))
    least = [LEAST_NOISE[use] for use in ("a posterior", DRAWS, "a posterior on a lattice")]
    assert list(map(float, named)) == least
