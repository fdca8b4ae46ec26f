"""π-GP-UCB against a plain transcription of the paper: rational cubes, dense solves, every cell in every round."""

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kbrepro.confidence import AbbasiYadkori2011, Chowdhury2017, Flynn2024
from kbrepro.kernels import Matern, grid
from kbrepro.papers.pi_gp_ucb.partition import PartitionedUCB, cover_exponent, initial_side, must_split, split_exponent
from kbrepro.papers.pi_gp_ucb.problems import LatticeKernel
from kbrepro.problems import Model, Problem, Uniform
from kbrepro.simulation import rounds

KERNEL = Matern(0.2, nu=1.5)
WIDTHS = {
    Chowdhury2017: lambda B, L, alpha, gain, log: B + L * math.sqrt(2 * (gain + 1 + log)),
    AbbasiYadkori2011: lambda B, L, alpha, gain, log: B + L * math.sqrt(2 / alpha * (gain + log)),
    Flynn2024: lambda B, L, alpha, gain, log: math.sqrt(B**2 + 2 * L**2 / alpha * (gain + log)),
}


class Referee:
    """The algorithm cell by cell; a cell is (corner, diameter) in fractions, its data a list of (arm, observation)."""

    def __init__(self, n, d, horizon, norm, alpha, scale=1.0, variant="paper", width=Chowdhury2017, whole=round):
        self.places = [tuple(Fraction(i, n - 1) for i in p) for p in itertools.product(range(n), repeat=d)]
        self.points = np.array(self.places, dtype=float)
        self.d, self.horizon, self.norm, self.alpha, self.variant = d, horizon, norm, alpha, variant
        self.scale, self.width = scale, WIDTHS[width]
        q = d * (d + 1) / (d * (d + 2) + 3)
        side = max(1, whole(horizon ** (q / d))) if variant == "paper" else 1
        corners = itertools.product([Fraction(k, side) for k in range(side)], repeat=d)
        self.cells = {(corner, Fraction(1, side)): [] for corner in corners}
        self.created, self.t = len(self.cells), 1

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
        best = [max((mean + half, half) for a, mean, half in slots) for _, slots in itertools.groupby(
            sorted(self.slots(), key=lambda slot: slot[0]), key=lambda slot: slot[0])]  # fmt: skip
        return np.array(best).T

    def splits(self, rho, pulls):
        if self.variant == "paper":
            return (1 / rho) ** (self.d + 3) < Fraction(pulls + 1) ** (self.d + 1)
        return (1 / rho) ** 3 < pulls

    def tell(self, arm, observation):
        for cell in [cell for cell in self.cells if self.inside(cell, arm)]:
            self.cells[cell].append((arm, observation))
            corner, rho = cell
            if self.splits(rho, len(self.cells[cell])):
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


#: On 9 and 5 points a side arms lie on borders of cells, on 10 and 30 none does; a lambda of 13.9 tells widths apart.
CASES = [(*case, {"variant": variant}) for variant in ("paper", "thesis") for case in (
    (9, 1, 120), (9, 2, 60), (10, 1, 90), (30, 1, 150), (5, 3, 40))]  # fmt: skip
CASES += [(*case, {"width": width, "alpha": alpha, "scale": 0.7}) for width in WIDTHS for case, alpha in (
    ((10, 1, 60), 1.0), ((9, 2, 40), 13.9))]  # fmt: skip
CASES += [(9, 1, 60, {"whole": whole}) for whole in (math.floor, math.ceil)]


@pytest.mark.parametrize(("n", "d", "horizon", "given"), CASES)
def test_every_pull_is_the_plain_transcription_s(n, d, horizon, given):
    problem, policy, referee = pair_on(n, d, horizon, **given)
    rank = np.random.default_rng(35).spawn(2)[1].permutation(n**d)
    for _, arm, observation in rounds(policy, problem, horizon, np.random.default_rng(35)):
        assert policy.n_created == referee.created
        bounds, halves = referee.upper_bounds()
        tied = np.flatnonzero(bounds >= bounds.max() - 1e-10 * (1 + abs(bounds.max())))
        assert arm == tied[rank[tied].argmin()]
        assert policy.half_width(arm) == pytest.approx(halves[arm], rel=1e-9)
        referee.tell(arm, observation)
    assert policy.n_created == referee.created > policy.n_initial


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
    ours = policy.slot_mean + policy.widths()[policy.slot_cell] * policy.slot_sd
    best = np.full(81, -np.inf)
    np.maximum.at(best, policy.slot_arm, ours)
    np.testing.assert_allclose(best, bounds, rtol=1e-9)
    np.testing.assert_allclose([policy.half_width(arm) for arm in range(81)], halves, rtol=1e-9)
    f = np.cos(np.arange(81.0))
    worst = max(abs(f[arm] - mean) / half for arm, mean, half in referee.slots())
    assert policy.band_ratio(f) == pytest.approx(worst, rel=1e-9)


@given(d=st.integers(1, 3), side=st.integers(1, 200), pulls=st.integers(0, 2000), nu=st.sampled_from([0.5, 1.5, 2.5]))
@example(d=1, side=20, pulls=399, nu=1.5)  # rho^(-1/b) is 400, in floats 400.00000000000006
@example(d=1, side=20, pulls=400, nu=1.5)
@example(d=1, side=4, pulls=64, nu=1.5)  # thesis: rho^(-2 nu) is 64
def test_a_cell_splits_by_the_rational_rule(d, side, pulls, nu):
    two_nu = int(2 * nu)
    paper = Fraction(side) ** (d + two_nu) < Fraction(pulls + 1) ** (d + 1)
    assert must_split(side, pulls, d, nu, "paper") == paper
    assert must_split(side, pulls, d, nu, "thesis") == (Fraction(side) ** two_nu < pulls)


def test_exponents_and_the_first_cover():
    assert (cover_exponent(1, 1.5), cover_exponent(2, 1.5)) == pytest.approx((1 / 3, 6 / 11))
    assert split_exponent(3, 1.5) == pytest.approx(2 / 3)
    for whole, sides in ((round, [22, 12, 8]), (math.floor, [21, 12, 7]), (math.ceil, [22, 13, 8])):
        assert [initial_side(10_000, d, 1.5, whole) for d in (1, 2, 3)] == sides  # 21.54, 12.33, 7.74


@pytest.mark.parametrize("union", ["horizon", "levels"])
def test_the_unions_that_hold_by_hand(union):
    """d = 1, T = 60: 4 cells, then 8, 16 ... while a cell of that size that holds all 60 pulls splits."""
    policy = PartitionedUCB(problem_on(9, 1).model, 60, delta=0.1, nu=1.5, union=union)
    while policy.n_created == policy.n_initial:
        policy.tell(3, 0.0)
    levels = [4]
    while must_split(levels[-1], 60, 1, 1.5, "paper"):
        levels.append(2 * levels[-1])
    assert policy.largest_gain == policy._gain.max() > 0
    for cell, width, gain in zip(policy.cells, policy.widths(), policy._gain, strict=True):
        level = levels.index(cell.side)
        share = 1 / sum(levels) if union == "horizon" else 6 / (math.pi**2 * (level + 1) ** 2 * cell.side)
        assert width == pytest.approx(2 + math.sqrt(2 * (gain + 1 + math.log(1 / (0.1 * share)))))


def test_the_largest_gain_counts_the_pull_that_splits_a_cell():
    """Thesis variant, two pulls of one arm: gain 1/2 log(1 + 2 / alpha); the children have seen nothing."""
    _, policy, _ = pair_on(9, 1, 50, variant="thesis")
    policy.tell(2, 0.5)
    policy.tell(2, -0.5)
    assert policy.n_created == 3
    assert policy.largest_gain == pytest.approx(0.5 * math.log(1 + 2 / 0.3))


BAD = {"variant": "both", "union": "all", "nu": 1.0, "delta": 1.0}


@pytest.mark.parametrize("name", BAD)
def test_bad_settings_are_named(name):
    settings = {"delta": 0.1, "nu": 1.5} | {name: BAD[name]}
    with pytest.raises(ValueError, match=f"{name} = {BAD[name]!r} is not allowed: {name} must be "):
        PartitionedUCB(problem_on(5, 1).model, 10, **settings)


def test_a_proved_union_is_for_the_paper_s_variant_and_a_norm_and_good_pulls_are_needed():
    model = problem_on(5, 1).model
    with pytest.raises(ValueError, match="union = 'levels' is not allowed"):
        PartitionedUCB(model, 10, delta=0.1, nu=1.5, variant="thesis", union="levels")
    with pytest.raises(ValueError, match="norm = None is not allowed"):
        PartitionedUCB(replace(model, norm=None), 10, delta=0.1, nu=1.5)
    policy = PartitionedUCB(model, 10, delta=0.1, nu=1.5)
    with pytest.raises(IndexError, match="arm = 5 is not allowed"):
        policy.tell(5, 0.0)
    with pytest.raises(ValueError, match="observation = nan is not allowed"):
        policy.tell(0, float("nan"))
