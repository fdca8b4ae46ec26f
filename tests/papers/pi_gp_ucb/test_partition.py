"""π-GP-UCB against a plain transcription of the paper: rational cubes, dense solves, every cell in
every round.
"""

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from recordings import recorded
from refusing import refuses

from kbrepro.bandits.confidence import Chowdhury2017, Flynn2024
from kbrepro.bandits.kernels import Matern, grid
from kbrepro.bandits.policies import UCB
from kbrepro.bandits.problems import Model, Problem, Uniform
from kbrepro.papers.pi_gp_ucb.partition import (
    PartitionedUCB,
    initial_side,
    must_split,
    possible_cells,
)
from kbrepro.papers.pi_gp_ucb.problems import LatticeKernel
from kbrepro.trials.simulation import rounds


def model_on(n, d, alpha=1.0):
    return Model(
        grid(n, d), LatticeKernel(Matern(0.2, nu=1.5), n), alpha, noise_scale=0.7, norm=2.0
    )


class Referee:
    """The algorithm cell by cell; a cell is (corner, diameter) in fractions, its data a list of
    (arm, observation).
    """

    def __init__(self, n, d, horizon, model, width, split_gain=None):
        self.places = [
            tuple(Fraction(i, n - 1) for i in p) for p in itertools.product(range(n), repeat=d)
        ]
        self.d, self.model, self.width, self.t = d, model, width, 1
        self.split_gain = split_gain
        side = max(1, round(horizon ** ((d + 1) / (d * (d + 2) + 3))))
        corners = itertools.product([Fraction(k, side) for k in range(side)], repeat=d)
        self.cells = {(corner, Fraction(1, side)): [] for corner in corners}
        self.first = self.created = len(self.cells)

    def inside(self, cell, arm):
        corner, rho = cell
        return all(c <= x <= c + rho for c, x in zip(corner, self.places[arm], strict=True))

    def slots(self):
        """(arm, mean, width sd) of every arm in every cell, by dense solves."""
        model, count = self.model, 4 * (self.t + 1) ** ((self.d + 1) / (self.d + 3) * self.d)
        for cell, data in self.cells.items():
            arms = [a for a in range(len(self.places)) if self.inside(cell, a)]
            X = model.points[[a for a, _ in data]].reshape(-1, self.d)
            K = model.kernel(X, X) + model.noise_variance * np.eye(len(X))
            k = model.kernel(X, model.points[arms])
            solved = np.linalg.solve(K, k)
            gain = 0.5 * np.linalg.slogdet(K / model.noise_variance)[1]
            half = self.width(0.1 / count).of(model, gain) * np.sqrt(1 - (k * solved).sum(axis=0))
            yield from zip(arms, solved.T @ np.array([o for _, o in data]), half, strict=True)

    def upper_bounds(self):
        """The largest UCB over cells of every arm, and width times sd in that cell."""
        best = {}
        for arm, mean, half in self.slots():
            best[arm] = max(best.get(arm, (-np.inf, 0)), (mean + half, half))
        return np.array([best[arm] for arm in range(len(self.places))]).T

    def splits(self, cell):
        data = self.cells[cell]
        if self.split_gain is None:
            return (1 / cell[1]) ** (self.d + 3) < (len(data) + 1) ** (self.d + 1)
        X = self.model.points[[a for a, _ in data]]
        K = np.eye(len(X)) + self.model.kernel(X, X) / self.model.noise_variance
        several = sum(self.inside(cell, a) for a in range(len(self.places))) > 1
        return several and np.linalg.slogdet(K)[1] / 2 > self.split_gain

    def tell(self, arm, observation):
        for cell in [cell for cell in self.cells if self.inside(cell, arm)]:
            self.cells[cell].append((arm, observation))
            corner, rho = cell
            if self.splits(cell):
                data = self.cells.pop(cell)
                for offset in itertools.product((0, rho / 2), repeat=self.d):
                    child = tuple(map(sum, zip(corner, offset, strict=True))), rho / 2
                    self.cells[child] = [(a, o) for a, o in data if self.inside(child, a)]
                self.created += 2**self.d
        self.t += 1


def pair_on(n, d, horizon, alpha=0.3, width=Chowdhury2017, split_gain=None):
    """A policy and the referee."""
    model = model_on(n, d, alpha)
    settings = {"width": width, "split_gain": split_gain}
    policy = PartitionedUCB(model, horizon, delta=0.1, nu=1.5, rng=36, **settings)
    return policy, Referee(n, d, horizon, model, **settings)


def index_of_cells(policy):
    """The largest index of each arm over its cells."""
    best = np.full(len(policy.model.points), -np.inf)
    upper = policy.slot_mean + policy.widths()[policy.slot_cell] * policy.slot_sd
    np.maximum.at(best, policy.slot_arm, upper)
    return best


#: On 9 and 5 points a side arms lie on borders of cells, on 10 none does; a lambda of 13.9 tells
#: widths apart. In the last ones cells split by their gain, in the last of all into single arms.
CASES = [(9, 1, 120), (9, 2, 50), (10, 1, 90), (5, 3, 15), (9, 2, 30, 13.9, Flynn2024)]
CASES += [(9, 2, 50, 0.3, Chowdhury2017, 1.5), (9, 1, 60, 0.3, Chowdhury2017, 0.4)]


@pytest.mark.parametrize("case", CASES)
def test_every_pull_is_the_plain_transcription_s(case):
    n, d, horizon, *_ = case
    policy, referee = pair_on(*case)
    problem = Problem(policy.model, np.cos(5 * policy.model.points).sum(axis=1), Uniform(1.0))
    rank = np.random.default_rng(36).permutation(n**d)
    for _, arm, observation in rounds(policy, problem, horizon, np.random.default_rng(35)):
        assert len(policy.cells) == referee.created
        bounds, halves = referee.upper_bounds()
        tied = np.flatnonzero(bounds >= bounds.max() - 1e-10 * (1 + abs(bounds.max())))
        assert arm == tied[rank[tied].argmin()]
        assert policy.half_width(arm) == pytest.approx(halves[arm], rel=1e-9)
        referee.tell(arm, observation)
    assert len(policy.cells) == referee.created > referee.first


@settings(max_examples=30, deadline=None, derandomize=True)
@given(
    rows_from=st.sampled_from([1, 1000]),
    pulls=st.lists(st.integers(0, 80), min_size=1, max_size=80),
)
def test_cells_are_the_plain_transcription_s_whatever_is_pulled(rows_from, pulls):
    """Also pulls that the policy would not choose; with either form of a cell's posterior."""
    policy, referee = pair_on(9, 2, 80)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kbrepro.papers.pi_gp_ucb.partition.ROWS_FROM", rows_from)
        for t, arm in enumerate(pulls):
            for each in (policy, referee):
                each.tell(arm, 3.0 * (-1) ** (t // 3))
    bounds, halves = referee.upper_bounds()
    np.testing.assert_allclose(index_of_cells(policy), bounds, rtol=1e-9)
    np.testing.assert_allclose([policy.half_width(arm) for arm in range(81)], halves, rtol=1e-9)
    f = np.cos(np.arange(81.0))
    worst = max(abs(f[arm] - mean) / half for arm, mean, half in referee.slots())
    assert policy.band_ratio(f) == pytest.approx(worst, rel=1e-9)


@pytest.mark.parametrize(("variant", "side", "d", "nu", "first"), [
    ("paper", 20, 1, 1.5, 400), ("paper", 8, 2, 1.5, 32), ("paper", 4, 3, 1.5, 8),
    ("paper", 16, 1, 0.5, 16),
    ("thesis", 4, 2, 1.5, 65)])  # fmt: skip
def test_a_cell_splits_at_this_many_pulls_by_hand(variant, side, d, nu, first):
    """In floats rho^(-1/b) is 400.00000000000006 in the first case."""
    assert must_split(side, np.array([first - 1, first]), d, nu, variant).tolist() == [False, True]


def test_the_first_cover_and_the_union_that_holds_by_hand():
    """d = 1, T = 60: 4 cells, then 8: one of side 1/4 splits at 16 pulls, of 1/8 at 64."""
    assert [initial_side(10_000, d, 1.5) for d in (1, 2, 3)] == [22, 12, 8]  # 21.54, 12.33, 7.74
    assert possible_cells(60, 1, 1.5) == [4, 8]
    policy = PartitionedUCB(model_on(9, 1), 60, delta=0.1, nu=1.5, union="horizon")
    policy.tell(3, 0.0)
    assert policy.cell_gain.max() > 0
    widths = 2 + 0.7 * np.sqrt(2 * (policy.cell_gain + 1 + math.log(12 / 0.1)))
    assert policy.widths() == pytest.approx(widths)


def test_bad_settings_and_pulls_are_named():
    model = model_on(5, 1)

    def made(model=model, **changed):
        return PartitionedUCB(model, 10, **{"delta": 0.1, "nu": 1.5} | changed)

    refuses(
        (lambda: made(variant="both"), "variant = 'both' is not allowed: variant must be "),
        (lambda: made(union="all"), "union = 'all' is not allowed: union must be "),
        (lambda: made(split_gain=0.0), r"split_gain = 0\.0 is not allowed"),
        (lambda: made(nu=1.0), r"nu = 1\.0 is not allowed: nu must be "),
        (lambda: made(delta=1.0), r"delta = 1\.0 is not allowed: delta must be "),
        (lambda: made(variant="thesis", union="horizon"), "union = 'horizon' is not allowed"),
        (lambda: made(replace(model, norm=None)), "norm = None is not allowed"),
        (lambda: made().tell(0, np.nan), r"rewards.* = nan is not allowed"),
    )


# Recorded runs of the first author's thesis code, which is not here: its variant, and its exact
# IGP-UCB

RUNS = recorded("pi_gp_ucb")
every_run = pytest.mark.parametrize("run", RUNS)


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
def test_pi_gp_ucb_of_the_thesis(run):
    given = {"delta": run["delta"], "nu": run["nu"], "variant": "thesis"}
    policy = PartitionedUCB(model_of(run), run["pi_gp_ucb"]["horizon"], **given)
    fed(policy, run, "pi_gp_ucb")
    assert len(set(policy.slot_cell.tolist())) == run["pi_gp_ucb"]["live_cells"]


@every_run
def test_igp_ucb(run):
    policy = fed(UCB(model_of(run), width=Chowdhury2017(run["delta"])), run, "igp_ucb")
    assert policy.posterior.gain == pytest.approx(run["igp_ucb"]["gain"], rel=1e-10)
