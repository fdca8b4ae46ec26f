"""π-GP-UCB against a plain transcription of the paper: rational cubes, dense solves, every cell in every round."""

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kbrepro.confidence import Improved, SelfNormalised, Tighter
from kbrepro.kernels import Matern, grid
from kbrepro.papers.pi_gp_ucb.partition import PartitionedUCB, cover_exponent, initial_side, must_split, split_exponent
from kbrepro.papers.pi_gp_ucb.problems import LatticeKernel
from kbrepro.problems import Model, Problem, Uniform
from kbrepro.simulation import rounds

KERNEL = Matern(0.2, nu=1.5)
WIDTHS = {
    Improved: lambda B, L, alpha, gain, log: B + L * math.sqrt(2 * (gain + 1 + log)),
    SelfNormalised: lambda B, L, alpha, gain, log: B + L * math.sqrt(2 / alpha * (gain + log)),
    Tighter: lambda B, L, alpha, gain, log: math.sqrt(B**2 + 2 * L**2 / alpha * (gain + log)),
}


class Referee:
    """The algorithm cell by cell; a cell is (corner, diameter) in fractions, its data a list of (arm, observation).

    `width` of norm, noise scale, alpha, gain and log(N / delta).
    """

    def __init__(self, n, d, horizon, norm, alpha, variant, scale=1.0, width=None, whole=round):
        self.places = [tuple(Fraction(i, n - 1) for i in p) for p in itertools.product(range(n), repeat=d)]
        self.points = np.array(self.places, dtype=float)
        self.n, self.d, self.horizon, self.norm, self.alpha, self.variant = n, d, horizon, norm, alpha, variant
        self.scale, self.width = scale, width or WIDTHS[Improved]
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
            y = np.array([o for _, o in data])
            K = KERNEL(X, X) + self.alpha * np.eye(len(X))
            k = KERNEL(X, self.points[arms])
            solved = np.linalg.solve(K, k)
            gain = 0.5 * np.linalg.slogdet(K / self.alpha)[1]
            width = self.width(self.norm, self.scale, self.alpha, gain, math.log(count / 0.1))
            yield from zip(arms, solved.T @ y, width * np.sqrt(1 - (k * solved).sum(axis=0)), strict=True)

    def upper_bounds(self):
        """The largest UCB over cells of every arm."""
        best = np.full(len(self.places), -np.inf)
        for arm, mean, half in self.slots():
            best[arm] = max(best[arm], mean + half)
        return best

    def half_width(self, chosen):
        """Width times sd of an arm where its UCB is largest."""
        return max((mean + half, half) for arm, mean, half in self.slots() if arm == chosen)[1]

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


def policy_on(n, d, horizon, alpha=1.0, variant="paper"):
    return PartitionedUCB(problem_on(n, d, alpha).model, horizon, delta=0.1, nu=1.5, variant=variant)


@pytest.mark.parametrize("variant", ["paper", "thesis"])
@pytest.mark.parametrize(("n", "d", "horizon"), [(9, 1, 120), (9, 2, 60), (10, 1, 90), (30, 1, 150), (5, 3, 40)])
def test_every_pull_is_the_plain_transcription_s(n, d, horizon, variant):
    """On 9 and 5 points a side arms lie on borders of cells, on 10 and 30 none does."""
    policy, referee = compared(problem_on(n, d, alpha=0.3), n, horizon, variant)
    assert referee.created > (1 if variant == "thesis" else policy.n_initial)


def compared(problem, n, horizon, variant="paper", width=Improved, whole=round):
    """Policy and referee after a run in which they agree on every pull and on its half-width."""
    model = problem.model
    policy = PartitionedUCB(model, horizon, delta=0.1, nu=1.5, variant=variant, width=width, whole=whole)
    given = model.norm, model.noise_variance, variant, model.noise_scale, WIDTHS[width], whole
    referee = Referee(n, model.points.shape[1], horizon, *given)
    rank = np.random.default_rng(35).spawn(2)[1].permutation(model.n_arms)
    for _, arm, observation in rounds(policy, problem, horizon, np.random.default_rng(35)):
        assert policy.n_created == referee.created
        bounds = referee.upper_bounds()
        tied = np.flatnonzero(bounds >= bounds.max() - 1e-10 * (1 + abs(bounds.max())))
        assert arm == tied[rank[tied].argmin()]
        assert policy.half_width(arm) == pytest.approx(referee.half_width(arm), rel=1e-9)
        referee.tell(arm, observation)
    assert policy.n_created == referee.created
    return policy, referee


@pytest.mark.parametrize(("rows_from", "form"), [(1, "RowPosterior"), (1000, "CovariancePosterior")])
def test_cells_that_keep_rows_pull_the_same_arms(monkeypatch, rows_from, form):
    monkeypatch.setattr("kbrepro.papers.pi_gp_ucb.partition.ROWS_FROM", rows_from)
    policy, _ = compared(problem_on(9, 2, alpha=0.3), 9, 60)
    assert {type(cell.posterior).__name__ for cell in policy.cells if cell.posterior} == {form}


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("alpha", [1.0, 13.9])
@pytest.mark.parametrize(("n", "d", "horizon"), [(10, 1, 60), (9, 2, 40)])
def test_with_any_width_every_pull_is_the_plain_transcription_s(n, d, horizon, alpha, width):
    """Also with a lambda that has grown, where the widths differ most."""
    compared(problem_on(n, d, alpha, scale=0.7), n, horizon, width=width)


@pytest.mark.parametrize(("whole", "side"), [(math.floor, 3), (math.ceil, 4)])
def test_the_first_cover_is_made_whole_as_asked(whole, side):
    """60^(1/3) = 3.91 cells in one dimension."""
    policy, _ = compared(problem_on(9, 1), 9, 60, whole=whole)
    assert policy.n_initial == side
    policy = PartitionedUCB(problem_on(5, 2).model, 60, delta=0.1, nu=1.5, whole=whole)
    assert policy.n_initial == side**2  # 60^(3/11) = 3.05


def test_half_widths_of_an_arm_in_several_cells():
    """Whatever is pulled; on a border the cell of largest index is not always that of largest width times sd."""
    policy, referee = policy_on(9, 1, 60), Referee(9, 1, 60, 2.0, 1.0, "paper")
    widest = 0
    for t in range(40):
        arm, observation = (3 * t) % 9, 3.0 * (-1) ** (t // 3)
        policy.tell(arm, observation)
        referee.tell(arm, observation)
        slots = list(referee.slots())
        for arm in range(9):
            half = referee.half_width(arm)
            assert policy.half_width(arm) == pytest.approx(half, rel=1e-9)
            widest += half < max(its for a, _, its in slots if a == arm) - 1e-6
    assert widest > 0


@settings(max_examples=60, deadline=None, derandomize=True)
@given(pulls=st.lists(st.integers(0, 80), min_size=1, max_size=80), variant=st.sampled_from(["paper", "thesis"]))
def test_cells_cover_all_arms_whatever_is_pulled(pulls, variant):
    """Also pulls that the policy would not choose."""
    policy = policy_on(9, 2, 80, variant=variant)
    referee = Referee(9, 2, 80, 2.0, 1.0, variant)
    for t, arm in enumerate(pulls):
        policy.tell(arm, t % 3 / 2)
        referee.tell(arm, t % 3 / 2)
    assert set(policy.slot_arm.tolist()) == set(range(81))
    index = policy.slot_mean + policy.widths()[policy.slot_cell] * policy.slot_sd
    best = np.full(81, -np.inf)
    np.maximum.at(best, policy.slot_arm, index)
    np.testing.assert_allclose(best, referee.upper_bounds(), rtol=1e-9)


# The splitting rule and the cover


@pytest.mark.parametrize("d", [1, 2, 3])
def test_the_paper_splits_by_the_rational_rule(d):
    for side, pulls in itertools.product(range(1, 40), range(0, 1700, 7)):
        assert must_split(side, pulls, d, 1.5, "paper") == (Fraction(side) ** (d + 3) < Fraction(pulls + 1) ** (d + 1))


def test_where_floats_split_wrongly():
    """d = 1, rho = 1/20: rho^(-1/b) is exactly 400, so 399 pulls do not split; in floats 20^2 is 400.00000000000006."""
    assert [must_split(20, pulls, 1, 1.5, "paper") for pulls in (398, 399, 400)] == [False, False, True]
    exact = [side for side in range(2, 200) if must_split(side, side**2 - 1, 1, 1.5, "paper")]
    floats = [side for side in range(2, 200) if (1 / side) ** (-1 / split_exponent(1, 1.5)) < side**2]
    assert exact == [] and floats != []


def test_exponents_and_the_first_cover():
    assert cover_exponent(1, 1.5) == pytest.approx(1 / 3)
    assert cover_exponent(2, 1.5) == pytest.approx(6 / 11)
    assert split_exponent(3, 1.5) == pytest.approx(2 / 3)
    assert [initial_side(10_000, d, 1.5) for d in (1, 2, 3)] == [22, 12, 8]  # 21.54, 12.33, 7.74
    assert [initial_side(10_000, d, 1.5, math.floor) for d in (1, 2, 3)] == [21, 12, 7]
    assert [initial_side(10_000, d, 1.5, math.ceil) for d in (1, 2, 3)] == [22, 13, 8]


@pytest.mark.parametrize("union", ["horizon", "levels"])
def test_the_unions_that_hold_by_hand(union):
    """d = 1, T = 60: 4 cells, then 8, 16 ... while a cell of that size that holds all 60 pulls splits."""
    model = problem_on(9, 1).model
    policy = PartitionedUCB(model, 60, delta=0.1, nu=1.5, union=union)
    while policy.n_created == policy.n_initial:
        policy.tell(3, 0.0)
    levels = [4]
    while must_split(levels[-1], 60, 1, 1.5, "paper"):
        levels.append(2 * levels[-1])
    for cell, width, gain in zip(policy.cells, policy.widths(), policy._gain, strict=True):
        level = levels.index(cell.side)
        share = 1 / sum(levels) if union == "horizon" else 6 / (math.pi**2 * (level + 1) ** 2 * cell.side)
        assert width == pytest.approx(2 + math.sqrt(2 * (gain + 1 + math.log(1 / (0.1 * share)))))
    with pytest.raises(ValueError, match=f"union = '{union}' is not allowed"):
        PartitionedUCB(model, 60, delta=0.1, nu=1.5, variant="thesis", union=union)


def test_the_largest_gain_counts_the_pull_that_splits_a_cell():
    """Thesis variant, two pulls of one arm: gain 1/2 log(1 + 2 / alpha); the children have seen nothing."""
    policy = policy_on(9, 1, 50, alpha=0.3, variant="thesis")
    policy.tell(2, 0.5)
    policy.tell(2, -0.5)
    assert policy.n_created == 3
    assert policy.largest_gain == pytest.approx(0.5 * math.log(1 + 2 / 0.3))


def test_the_band_is_the_worst_slot_in_units_of_the_width():
    policy = policy_on(9, 1, 50)
    width = policy.widths()[0]
    f = np.zeros(9)
    f[4] = -3.0
    assert policy.band_ratio(f) == pytest.approx(3.0 / width)


@pytest.mark.parametrize(
    ("argument", "value", "allowed"),
    [
        ("variant", "both", "one of 'paper', 'thesis'"),
        ("nu", 1.0, "0.5, 1.5 or 2.5"),
        ("delta", 1.0, "a number strictly between 0 and 1"),
    ],
)
def test_bad_settings_are_named(argument, value, allowed):
    given = dict(delta=0.1, nu=1.5) | {argument: value}
    with pytest.raises(ValueError, match=f"{argument} = {value!r} is not allowed: {argument} must be {allowed}"):
        PartitionedUCB(problem_on(5, 1).model, 10, **given)


def test_a_norm_must_be_told():
    with pytest.raises(ValueError, match="norm = None is not allowed"):
        PartitionedUCB(replace(problem_on(5, 1).model, norm=None), 10, delta=0.1, nu=1.5)


def test_a_bad_pull_is_named():
    policy = policy_on(5, 1, 10)
    with pytest.raises(IndexError, match="arm = 5 is not allowed"):
        policy.tell(5, 0.0)
    with pytest.raises(ValueError, match="observation = nan is not allowed"):
        policy.tell(0, float("nan"))
