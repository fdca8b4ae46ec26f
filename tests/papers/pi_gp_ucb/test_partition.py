"""π-GP-UCB against a plain transcription of the paper: rational cubes, dense solves, every cell in every round."""

import itertools
import json
import math
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kbrepro.confidence import AbbasiYadkori2011, Chowdhury2017, Flynn2024
from kbrepro.kernels import Matern, grid
from kbrepro.papers.pi_gp_ucb.partition import PartitionedUCB, initial_side, must_split, possible_cells
from kbrepro.papers.pi_gp_ucb.problems import LatticeKernel
from kbrepro.policies import UCB
from kbrepro.problems import Model, Problem, Uniform
from kbrepro.simulation import rounds

KERNEL = Matern(0.2, nu=1.5)
WIDTHS = {
    Chowdhury2017: lambda B, L, alpha, gain, log: B + L * math.sqrt(2 * (gain + 1 + log)),
    AbbasiYadkori2011: lambda B, L, alpha, gain, log: B + L * math.sqrt(2 / alpha * (gain + log)),
    Flynn2024: lambda B, L, alpha, gain, log: math.sqrt(B**2 + 2 * L**2 / alpha * (gain + log)),
}


def rational_rule(variant, side, pulls, d, two_nu):
    """Whether a cell splits."""
    if variant == "paper":
        return side ** (d + two_nu) < Fraction(pulls + 1) ** (d + 1)
    return side**two_nu < pulls


class Referee:
    """The algorithm cell by cell; a cell is (corner, diameter) in fractions, its data a list of (arm, observation)."""

    def __init__(self, n, d, horizon, norm, alpha, scale=1.0, variant="paper", width=Chowdhury2017):
        self.places = [tuple(Fraction(i, n - 1) for i in p) for p in itertools.product(range(n), repeat=d)]
        self.points = np.array(self.places, dtype=float)
        self.d, self.horizon, self.norm, self.alpha, self.variant = d, horizon, norm, alpha, variant
        self.scale, self.width = scale, WIDTHS[width]
        side = max(1, round(horizon ** ((d + 1) / (d * (d + 2) + 3)))) if variant == "paper" else 1
        corners = itertools.product([Fraction(k, side) for k in range(side)], repeat=d)
        self.cells = {(corner, Fraction(1, side)): [] for corner in corners}
        self.first = self.created = len(self.cells)
        self.t = 1

    def inside(self, cell, arm):
        corner, rho = cell
        return all(c <= x <= c + rho for c, x in zip(corner, self.places[arm], strict=True))

    def slots(self):
        """(arm, mean, width sd) of every arm in every cell, by dense solves."""
        d = self.d
        count = 4 * (self.t + 1) ** ((d + 1) / (d + 3) * d)
        if self.variant == "thesis":
            count = 4 * (self.horizon + 1) ** (d / 3)
        for cell, data in self.cells.items():
            arms = [a for a in range(len(self.places)) if self.inside(cell, a)]
            X = self.points[[a for a, _ in data]].reshape(-1, d)
            K = KERNEL(X, X) + self.alpha * np.eye(len(X))
            k = KERNEL(X, self.points[arms])
            solved = np.linalg.solve(K, k)
            gain = 0.5 * np.linalg.slogdet(K / self.alpha)[1]
            width = self.width(self.norm, self.scale, self.alpha, gain, math.log(count / 0.1))
            half = width * np.sqrt(1 - (k * solved).sum(axis=0))
            yield from zip(arms, solved.T @ np.array([o for _, o in data]), half, strict=True)

    def upper_bounds(self):
        """The largest UCB over cells of every arm, and width times sd in that cell."""
        best = {}
        for arm, mean, half in self.slots():
            best[arm] = max(best.get(arm, (-np.inf, 0)), (mean + half, half))
        return np.array([best[arm] for arm in range(len(self.places))]).T

    def tell(self, arm, observation):
        for cell in [cell for cell in self.cells if self.inside(cell, arm)]:
            self.cells[cell].append((arm, observation))
            corner, rho = cell
            if rational_rule(self.variant, 1 / rho, len(self.cells[cell]), self.d, 3):
                data = self.cells.pop(cell)
                for offset in itertools.product((0, 1), repeat=self.d):
                    child = tuple(c + o * rho / 2 for c, o in zip(corner, offset, strict=True)), rho / 2
                    kept = data if self.variant == "paper" else []
                    self.cells[child] = [(a, o) for a, o in kept if self.inside(child, a)]
                self.created += 2**self.d
        self.t += 1


def problem_on(n, d, alpha=1.0, scale=1.0):
    model = Model(grid(n, d), LatticeKernel(KERNEL, n), alpha, noise_scale=scale, norm=2.0)
    return Problem(model, np.cos(5 * model.points).sum(axis=1), Uniform(1.0))


def pair_on(n, d, horizon, alpha=0.3, scale=1.0, **given):
    """A problem, a policy and the referee."""
    problem = problem_on(n, d, alpha, scale)
    policy = PartitionedUCB(problem.model, horizon, delta=0.1, nu=1.5, **given)
    return problem, policy, Referee(n, d, horizon, 2.0, alpha, scale, **given)


def index_of_cells(policy):
    """The largest index of each arm over its cells."""
    best = np.full(len(policy.model.points), -np.inf)
    np.maximum.at(best, policy.slot_arm, policy.slot_mean + policy.widths()[policy.slot_cell] * policy.slot_sd)
    return best


#: On 9 and 5 points a side arms lie on borders of cells, on 10 and 30 none does; a lambda of 13.9 tells widths apart.
CASES = [(*case, {"variant": variant}) for variant in ("paper", "thesis") for case in (
    (9, 1, 120), (9, 2, 60), (10, 1, 90), (30, 1, 150), (5, 3, 40))]  # fmt: skip
CASES += [(*case, {"width": width, "alpha": alpha, "scale": 0.7}) for width in WIDTHS for case, alpha in (
    ((10, 1, 60), 1.0), ((9, 2, 40), 13.9))]  # fmt: skip


@pytest.mark.parametrize(("n", "d", "horizon", "given"), CASES)
def test_every_pull_is_the_plain_transcription_s(n, d, horizon, given):
    problem, policy, referee = pair_on(n, d, horizon, **given)
    rank = np.random.default_rng(35).spawn(2)[1].permutation(n**d)
    for _, arm, observation in rounds(policy, problem, horizon, np.random.default_rng(35)):
        assert len(policy.cells) == referee.created
        bounds, halves = referee.upper_bounds()
        tied = np.flatnonzero(bounds >= bounds.max() - 1e-10 * (1 + abs(bounds.max())))
        assert arm == tied[rank[tied].argmin()]
        assert policy.half_width(arm) == pytest.approx(halves[arm], rel=1e-9)
        referee.tell(arm, observation)
    assert len(policy.cells) == referee.created > referee.first


@pytest.mark.parametrize("rows_from", [1, 1000])
@settings(max_examples=30, deadline=None, derandomize=True)
@given(pulls=st.lists(st.integers(0, 80), min_size=1, max_size=80), variant=st.sampled_from(["paper", "thesis"]))
def test_cells_are_the_plain_transcription_s_whatever_is_pulled(rows_from, pulls, variant):
    """Also pulls that the policy would not choose; with either form of a cell's posterior."""
    _, policy, referee = pair_on(9, 2, 80, variant=variant)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kbrepro.papers.pi_gp_ucb.partition.ROWS_FROM", rows_from)
        for t, arm in enumerate(pulls):
            policy.tell(arm, 3.0 * (-1) ** (t // 3))
            referee.tell(arm, 3.0 * (-1) ** (t // 3))
    bounds, halves = referee.upper_bounds()
    np.testing.assert_allclose(index_of_cells(policy), bounds, rtol=1e-9)
    np.testing.assert_allclose([policy.half_width(arm) for arm in range(81)], halves, rtol=1e-9)
    f = np.cos(np.arange(81.0))
    worst = max(abs(f[arm] - mean) / half for arm, mean, half in referee.slots())
    assert policy.band_ratio(f) == pytest.approx(worst, rel=1e-9)


@given(d=st.integers(1, 3), side=st.integers(1, 200), pulls=st.integers(0, 2000), nu=st.sampled_from([0.5, 1.5, 2.5]))
@example(d=1, side=20, pulls=399, nu=1.5)  # rho^(-1/b) is 400, in floats 400.00000000000006
@example(d=1, side=20, pulls=400, nu=1.5)
@example(d=1, side=4, pulls=64, nu=1.5)  # thesis: rho^(-2 nu) is 64
def test_a_cell_splits_by_the_rational_rule(d, side, pulls, nu):
    for variant in ("paper", "thesis"):
        assert must_split(side, pulls, d, nu, variant) == rational_rule(variant, Fraction(side), pulls, d, int(2 * nu))


def test_the_first_cover_and_the_union_that_holds_by_hand():
    """d = 1, T = 60: 4 cells, then 8, 16 ... while a cell of that size that holds all 60 pulls splits."""
    assert [initial_side(10_000, d, 1.5) for d in (1, 2, 3)] == [22, 12, 8]  # 21.54, 12.33, 7.74
    levels = [4]
    while must_split(levels[-1], 60, 1, 1.5, "paper"):
        levels.append(2 * levels[-1])
    assert levels == possible_cells(60, 1, 1.5)
    policy = PartitionedUCB(problem_on(9, 1).model, 60, delta=0.1, nu=1.5, union="horizon")
    policy.tell(3, 0.0)
    assert policy.cell_gain.max() > 0
    log = math.log(sum(levels) / 0.1)
    assert policy.widths() == pytest.approx([2 + math.sqrt(2 * (gain + 1 + log)) for gain in policy.cell_gain])


def test_bad_settings_and_pulls_are_named():
    make = partial(PartitionedUCB, problem_on(5, 1).model, 10)
    given = {"delta": 0.1, "nu": 1.5}
    for name, value in (("variant", "both"), ("union", "all"), ("nu", 1.0), ("delta", 1.0)):
        with pytest.raises(ValueError, match=f"{name} = {value!r} is not allowed: {name} must be "):
            make(**given | {name: value})
    with pytest.raises(ValueError, match="union = 'horizon' is not allowed"):
        make(**given, variant="thesis", union="horizon")
    with pytest.raises(ValueError, match="norm = None is not allowed"):
        PartitionedUCB(replace(problem_on(5, 1).model, norm=None), 10, **given)
    with pytest.raises(IndexError, match="arm = 5 is not allowed"):
        make(**given).tell(5, 0.0)
    with pytest.raises(ValueError, match="observation = nan is not allowed"):
        make(**given).tell(0, np.nan)


# Recorded runs of the first author's thesis code, which is not here: its variant, and its exact IGP-UCB

RUNS = json.loads((Path(__file__).parents[2] / "recorded" / "pi_gp_ucb.json").read_text(encoding="utf-8"))
every_run = pytest.mark.parametrize("run", RUNS, ids=lambda run: f"d = {run['d']}, norm {run['norm']:.1f}")


def fed(policy, run, name):
    """The policy is told of the recorded pulls, each of which has the largest index of ours."""
    for arm, noise in zip(run[name]["arms"], run["noise"], strict=False):
        index = policy.index() if name == "igp_ucb" else index_of_cells(policy)
        assert index.max() - index[arm] < 1e-6
        policy.tell(arm, run["expected_reward"][arm] + noise)
    return policy


def model_of(run):
    kernel = LatticeKernel(Matern(run["lengthscale"], nu=run["nu"]), run["side"])
    points = grid(run["side"], run["d"])
    np.testing.assert_allclose(points[:3], run["first_points"])
    return Model(points, kernel, run["noise_variance"], run["noise_scale"], run["norm"])


@every_run
def test_pi_gp_ucb(run):
    horizon, given = run["pi_gp_ucb"]["horizon"], {"delta": run["delta"], "nu": run["nu"], "variant": "thesis"}
    policy = fed(PartitionedUCB(model_of(run), horizon, **given), run, "pi_gp_ucb")
    assert len(set(policy.slot_cell.tolist())) == run["pi_gp_ucb"]["live_cells"]


@every_run
def test_igp_ucb(run):
    policy = fed(UCB(model_of(run), width=Chowdhury2017(run["delta"])), run, "igp_ucb")
    assert policy.posterior.gain == pytest.approx(run["igp_ucb"]["gain"], rel=1e-10)
