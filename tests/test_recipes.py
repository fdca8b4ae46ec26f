"""Every recipe runs as it stands, has at most ten lines, and gives the number that it should."""

import itertools
from functools import partial

import numpy as np
import pytest
from pages import blocks, page, run

import kbrepro as kb

HEAD, *PARTS = page("docs/recipes.md").split("\n## ")
(SETUP,) = blocks(HEAD, "python")
#: Title -> code.
RECIPES = {part.partition("\n")[0]: "".join(blocks(part, "python")) for part in PARTS}
UNITS = RECIPES["Units, offset, and when to stop"]


def height(best):
    """The expected reward of a setting of the page's hill."""
    return np.exp(-10 * ((best[0] - 0.7) ** 2 + (best[1] / 40 - 0.95) ** 2))


def next_arms(policy):
    arms = []
    for t in range(10):
        arms.append(policy.ask())
        policy.tell(arms[-1], float(t))
    return arms


def resumed(scope):
    arms = next_arms(scope["policy"])
    return arms == next_arms(scope["resumed"]) and len(set(arms)) > 1


def alike(scope):
    one_by_one, averaged = (scope[name].posterior for name in ("one_by_one", "averaged"))
    off = [one_by_one.mean - averaged.mean, one_by_one.sd - averaged.sd]
    return np.abs(off).max() < 1e-9


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


#: What the names that a recipe leaves must fulfil.
CHECKS = {
    "Noise-free functions, and costs": lambda end: (
        height(end["best"]) == max(map(height, end["points"]))
        and end["policy"].posterior.counts.max() == 1
    ),
    "Batch of points: several workers, and late results": lambda end: (
        height(end["best"]) > 0.9 and end["running"] == [] and len(end["policy"].history.arms) == 60
    ),
    "Unknown kernel: fit lengthscales, variance and noise": lambda end: (
        height(end["points"][end["policy"].recommend()]) > 0.85
        and 0.1 < end["policy"].model.noise_variance < 2
    ),
    "Which axis matters?": lambda end: end["share"] < 0.6 and end["temperature"] > 3 * end["share"],
    "Known noise in a fit": lambda end: (
        height(end["best"]) > 0.8
        and end["model"].noise_variance == 0.01
        and 0.05 < end["model"].kernel.lengthscale[0] < 2
    ),
    "A noise variance for each measurement": alike,
    "Units, offset, and when to stop": standard,
    "Categories and mixed points": lambda end: (
        end["best"][3] == 1 and abs(end["best"][0] - 0.7) < 0.12
    ),
    "Arms that are sold out, and contexts": lambda end: (
        np.median(np.abs(np.array(end["shares"]) - 0.7)) < 0.1
    ),
    "A limit that is seen only after measuring": lambda end: (
        height(end["best"]) > 0.55 and end["best"][0] < 0.5
    ),
    "An optimum that drifts": lambda end: abs(end["best"] - 0.3 - 0.4 * end["days"][-1]) < 0.08,
    "A log of points that are no arms": lambda end: (
        height(end["best"]) > 0.85 and end["policy"].history.arms[:3] == [400, 401, 402]
    ),
    "Save and resume": resumed,
    "A box in more than three dimensions": lambda end: (
        np.abs(end["model"].points[end["policy"].recommend()] - 0.3).max() < 0.2
        and len(end["model"].points) == 2224
    ),
}


@pytest.mark.parametrize("title", RECIPES)
def test_a_recipe_runs_and_gives_its_number(title):
    code = RECIPES[title]
    assert CHECKS[title](run([SETUP, code]))
    assert 1 <= sum(map(bool, code.splitlines())) <= 10


@pytest.mark.slow
def test_the_stop_comes_and_costs_what_the_page_says():
    pulls, lost, gaps = [], [], []
    for seed in range(20):
        scope = run([SETUP, f"noise = np.random.default_rng({seed})", UNITS])
        policy, at_50 = scope["policy"], kb.MeanOnly(scope["model"])
        heights = np.array([height(x) for x in scope["points"]])
        pulls.append(policy.t - 1)
        lost.append(8000 * (heights.max() - height(scope["best"])))
        at_50.tell(*(column[:50] for column in policy.history[:2]))
        gaps.append(at_50.gap(kb.Srinivas2010(0.1)))
    assert (min(pulls), max(pulls)) == (56, 107) and max(lost) < 430
    assert 19_000 < min(gaps) < max(gaps) < 27_000


@pytest.mark.slow
def test_the_proved_width_needs_as_many_pulls_as_the_page_says():
    scope = run([SETUP, *UNITS.splitlines()[:2]])
    pulls = []
    for seed in range(20):
        scope["noise"] = np.random.default_rng(seed)
        policy = kb.UCB(scope["model"], width=kb.Srinivas2010(0.1))
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
    s, c, step = np.indices((5, 3, 10)).reshape(3, -1)
    t = np.linspace(20, 90, 10)[step]
    pair = np.array([[0, 4, 0], [3, 0, 0], [0, 6, 0], [2, 0, 2], [0, 0, 5]])[s, c]
    peak = 30 + np.array([12, 5, 20, 0, 8])[s] + np.array([10, 15, 0])[c] + pair
    expected = peak + 25 * np.exp(-(((t - 40 - 8 * s + 10 * c) / 20) ** 2))
    kernel = kb.Matern((20.0, *[1.0] * 8), nu=2.5, variance=15**2)
    model = kb.Model(np.c_[t, np.eye(5)[s], np.eye(3)[c]], kernel, 9.0, mean=50.0)
    gp_ucb_5 = partial(kb.UCB, width=kb.Srinivas2010(0.1, beta_scale=0.2))
    low = {kb.ExpectedImprovement: 0, kb.PIMS: 0, gp_ucb_5: 0}
    for rule, seed in itertools.product(low, range(40)):
        policy, noise = rule(model, rng=seed), np.random.default_rng(seed)
        for _ in range(40):
            policy.tell(arm := policy.ask(), expected[arm] + 3 * noise.standard_normal())
        low[rule] += expected[policy.recommend()] < 0.95 * expected.max()
    assert [*low.values()] == [11, 0, 0]


def test_there_are_fourteen_and_each_says_what_theory_covers_it():
    assert list(CHECKS) == list(RECIPES) and len(CHECKS) == 14
    assert all("*Theory*: " in part for part in PARTS)
