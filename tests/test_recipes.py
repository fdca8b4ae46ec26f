"""Every recipe runs as it stands, has at most ten lines, and gives the number that it should."""

import re
from pathlib import Path

import numpy as np
import pytest

import kbrepro as kb

PAGE = (Path(__file__).parents[1] / "docs" / "recipes.md").read_text(encoding="utf-8")
HEAD, *PARTS = PAGE.split("\n## ")
SETUP, *RECIPES = ("\n".join(re.findall(r"```python\n(.*?)```", part, flags=re.S)) for part in (HEAD, *PARTS))
TITLES = [part.partition("\n")[0] for part in PARTS]


def height(best):
    """The expected reward of a setting of the page's hill."""
    return np.exp(-10 * ((best[0] - 0.7) ** 2 + (best[1] / 40 - 0.95) ** 2))


def resumed(scope):
    other = {"policy": scope["policy"], "resumed": scope["resumed"]}
    pulled = {name: [] for name in other}
    for name, policy in other.items():
        for t in range(10):
            pulled[name].append(policy.ask())
            policy.tell(pulled[name][-1], float(t))
    return pulled["policy"] == pulled["resumed"] and len(set(pulled["policy"])) > 1


def standard(scope):
    """The arms of the recipe in units are those of the plain problem."""
    plain = kb.ExpectedImprovement(kb.Model(scope["points"], scope["kernel"], 0.01))
    for arm, reward in zip(*scope["policy"].history[:2], strict=True):
        if plain.ask() != arm:
            return False
        plain.tell(arm, (reward - 50_000) / 8000)
    return height(scope["best"]) > 0.9 and 56 <= plain.t - 1 <= 107 and scope["policy"].gap(kb.Constant(2.0)) <= 1600


CHECKS = {
    "Minimise": lambda its: height(its["best"]) > 0.9,
    "Units, offset, and when to stop": standard,
    "Unknown lengthscale, variance and noise": lambda its: (
        height(its["points"][its["policy"].recommend()]) > 0.85 and 0.1 < its["policy"].model.noise_variance < 2
    ),
    "Which axis matters": lambda its: its["share"] < 0.6 and its["temperature"] > 3 * its["share"],
    "Categories and mixed points": lambda its: its["best"][3] == 1 and abs(its["best"][0] - 0.7) < 0.12,
    "Four workers, and results that come late": lambda its: (
        height(its["best"]) > 0.9 and its["running"] == [] and len(its["policy"].history.arms) == 60
    ),
    "Sold-out arms, and a context": lambda its: np.median(np.abs(np.array(its["shares"]) - 0.7)) < 0.1,
    "A noise variance for each measurement": lambda its: (
        np.abs(its["one_by_one"].posterior.mean - its["averaged"].posterior.mean).max() < 1e-9
        and np.abs(its["one_by_one"].posterior.sd - its["averaged"].posterior.sd).max() < 1e-9
    ),
    "Save and resume": resumed,
    "Your own rule on the papers' trials": lambda its: (
        its["compared"].table.loc["mean only", "mean R_T"] > 0 and its["compared"].traces["yours"].arms.shape[0] == 4
    ),
}


@pytest.mark.parametrize("title", [*TITLES[:-1], pytest.param(TITLES[-1], marks=pytest.mark.slow)])
def test_a_recipe_runs_and_gives_its_number(title, monkeypatch):
    monkeypatch.setenv("KBREPRO_JOBS", "1")
    scope, code = {"__name__": "example"}, RECIPES[TITLES.index(title)]
    exec(SETUP, scope)
    exec(code, scope)
    assert CHECKS[title](scope)
    assert 1 <= sum(bool(line) for line in code.splitlines()) <= 10


def test_there_are_ten_and_each_says_what_theory_covers_it():
    assert list(CHECKS) == TITLES and len(TITLES) == 10
    assert all("*Theory*: " in part for part in PARTS)
