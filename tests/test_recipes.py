"""Every recipe runs as it stands, has at most ten lines, and gives the number that it should."""

import re
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import kbrepro as kb

PAGE = (Path(__file__).parents[1] / "docs" / "recipes.md").read_text(encoding="utf-8")
HEAD, *PARTS = PAGE.split("\n## ")
SETUP, *RECIPES = (
    "\n".join(re.findall(r"```python\n(.*?)```", part, flags=re.S)) for part in (HEAD, *PARTS)
)
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
    return (
        height(scope["best"]) > 0.9
        and 56 <= plain.t - 1 <= 107
        and scope["policy"].gap(kb.Constant(2.0)) <= 1600
    )


CHECKS = {
    "Minimise": lambda its: height(its["best"]) > 0.9,
    "Units, offset, and when to stop": standard,
    "Unknown lengthscale, variance and noise": lambda its: (
        height(its["points"][its["policy"].recommend()]) > 0.85
        and 0.1 < its["policy"].model.noise_variance < 2
    ),
    "Which axis matters": lambda its: its["share"] < 0.6 and its["temperature"] > 3 * its["share"],
    "Categories and mixed points": lambda its: (
        its["best"][3] == 1 and abs(its["best"][0] - 0.7) < 0.12
    ),
    "Four workers, and results that come late": lambda its: (
        height(its["best"]) > 0.9 and its["running"] == [] and len(its["policy"].history.arms) == 60
    ),
    "Sold-out arms, and a context": lambda its: (
        np.median(np.abs(np.array(its["shares"]) - 0.7)) < 0.1
    ),
    "A noise variance for each measurement": lambda its: (
        np.abs(its["one_by_one"].posterior.mean - its["averaged"].posterior.mean).max() < 1e-9
        and np.abs(its["one_by_one"].posterior.sd - its["averaged"].posterior.sd).max() < 1e-9
    ),
    "Save and resume": resumed,
    "Known noise in a fit": lambda its: (
        height(its["best"]) > 0.8
        and its["model"].noise_variance == 0.01
        and 0.05 < its["model"].kernel.lengthscale[0] < 2
    ),
    "A log with points": lambda its: (
        height(its["best"]) > 0.85 and its["policy"].history.arms[:3] == [400, 401, 402]
    ),
    "A limit that is seen only after measuring": lambda its: (
        height(its["best"]) > 0.55 and its["best"][0] < 0.5
    ),
    "An optimum that drifts": lambda its: abs(its["best"] - 0.3 - 0.4 * its["days"][-1]) < 0.08,
    "A box in more than three dimensions": lambda its: (
        np.abs(its["model"].points[its["policy"].recommend()] - 0.3).max() < 0.2
        and len(its["model"].points) == 2224
    ),
    "Your own rule on the papers' trials": lambda its: (
        its["compared"].table.loc["mean only", "mean R_T"] > 0
        and its["compared"].traces["yours"].arms.shape[0] == 4
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


@pytest.mark.slow
def test_the_stop_comes_and_costs_what_the_page_says():
    pulls, lost, gaps = [], [], []
    for seed in range(20):
        exec(SETUP, scope := {})
        scope["noise"] = np.random.default_rng(seed)
        exec(RECIPES[1], scope)
        policy, at_50 = scope["policy"], kb.MeanOnly(scope["model"])
        heights = np.array([height(x) for x in scope["points"]])
        pulls.append(policy.t - 1)
        lost.append(8000 * (heights.max() - height(scope["best"])))
        at_50.tell(*(column[:50] for column in policy.history[:2]))
        gaps.append(at_50.gap(kb.Srinivas2010(0.1)))
    assert (
        (min(pulls), max(pulls)) == (56, 107)
        and max(lost) < 430
        and 19_000 < min(gaps) < max(gaps) < 27_000
    )


@pytest.mark.slow
def test_the_proved_width_needs_as_many_pulls_as_the_page_says():
    exec("\n".join([SETUP, *RECIPES[1].splitlines()[:2]]), scope := {})
    pulls = []
    for seed in range(20):
        scope["noise"], policy = (
            np.random.default_rng(seed),
            kb.UCB(scope["model"], width=kb.Srinivas2010(0.1)),
        )
        while (policy.t - 1) % 10 or policy.gap() > 1600:
            arm = policy.ask()
            policy.tell(arm, 50_000 + 8000 * scope["measure"](scope["points"][arm]))
        pulls.append(policy.t - 1)
    assert (min(pulls), max(pulls)) == (360, 530)


@pytest.mark.slow
def test_with_categories_expected_improvement_settles_on_a_lower_peak():
    """A reaction: 5 solvents x 3 catalysts x 10 temperatures, the yield in % with noise of sd 3, 40
    pulls.
    """
    s, c, t = (
        np.ravel(x) for x in np.meshgrid(range(5), range(3), np.linspace(20, 90, 10), indexing="ij")
    )
    pair = np.array([[0, 4, 0], [3, 0, 0], [0, 6, 0], [2, 0, 2], [0, 0, 5]])[s, c]
    peak = 30 + np.array([12, 5, 20, 0, 8])[s] + np.array([10, 15, 0])[c] + pair
    expected = peak + 25 * np.exp(-(((t - 40 - 8 * s + 10 * c) / 20) ** 2))
    kernel = kb.Matern((20.0, *[1.0] * 8), nu=2.5, variance=15**2)
    model = kb.Model(np.c_[t, np.eye(5)[s], np.eye(3)[c]], kernel, 9.0, mean=50.0)
    gp_ucb_5 = partial(kb.UCB, width=kb.Srinivas2010(0.1, beta_scale=0.2))
    lost = {}
    for rule in (kb.ExpectedImprovement, kb.PIMS, gp_ucb_5):
        lost[rule] = []
        for seed in range(40):
            policy, noise = rule(model, rng=seed), np.random.default_rng(seed)
            for _ in range(40):
                policy.tell(arm := policy.ask(), expected[arm] + 3 * noise.standard_normal())
            lost[rule].append(1 - expected[policy.recommend()] / expected.max())
    assert [sum(x > 0.05 for x in each) for each in lost.values()] == [11, 0, 0]


def test_there_are_fifteen_and_each_says_what_theory_covers_it():
    assert list(CHECKS) == TITLES and len(TITLES) == 15
    assert all("*Theory*: " in part for part in PARTS)
