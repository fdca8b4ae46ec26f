"""π-GP-UCB: a Gaussian process for every cell of a cover of [0, 1]^d by cubes, and cells that split as data come in.

The arms are a regular grid, so that cells and splits are decided in integers: a cell at level `side` covers
[k / side, (k + 1) / side] on each axis (closed), and the arm i / (n - 1) lies in it if k (n - 1) <= i side <= (k + 1)
(n - 1). In floats the splitting rule goes wrong where a power of the side hits an integer.

Two variants: `paper` (Janz et al., 2020, Section 3) and `thesis` (Janz, 2022, chapter 4, as in the author's code).
"""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from kbrepro import checks
from kbrepro.confidence import Improved
from kbrepro.kernels import Array
from kbrepro.papers.pi_gp_ucb.problems import grid_indices
from kbrepro.policies.base import best_arm
from kbrepro.posterior import CovariancePosterior
from kbrepro.problems import Told

VARIANTS = ("paper", "thesis")
Integers = NDArray[np.int64]


def cover_exponent(d: int, nu: float) -> float:
    """Return q = d (d + 1) / (d (d + 2) + 2 nu): at most of order T^q cells are created (Janz et al., Lemma 2)."""
    return d * (d + 1) / (d * (d + 2) + 2 * nu)


def split_exponent(d: int, nu: float) -> float:
    """Return b = (d + 1) / (d + 2 nu): a cell of diameter rho splits once rho^(-1/b) < its pulls + 1."""
    return (d + 1) / (d + 2 * nu)


def initial_side(horizon: int, d: int, nu: float) -> int:
    """Return the cells per side of a first cover of about T^q cells."""
    checks.positive_int(horizon=horizon)
    return max(1, round(horizon ** (cover_exponent(d, nu) / d)))


def must_split(side: int, pulls: int, d: int, nu: float, variant: str) -> bool:
    """Whether a cell of diameter 1 / side with so many pulls inside splits; 2 nu must be an integer.

    `paper`: rho^(-1/b) < pulls + 1. `thesis`: rho^(-2 nu) < pulls.
    """
    two_nu = int(2 * nu)
    if variant == "paper":
        return side ** (d + two_nu) < (pulls + 1) ** (d + 1)
    return side**two_nu < pulls


class Cell:
    """A closed cube [corner / side, (corner + 1) / side] with the arms (m,) in it and what was observed there."""

    def __init__(self, corner: tuple[int, ...], side: int, arms: Integers) -> None:
        self.corner, self.side, self.arms = corner, side, arms
        self.history: list[tuple[int, float]] = []
        self.posterior: CovariancePosterior | None = None  # made at the first pull: most cells are never pulled

    def holds(self, places: Integers, n: int) -> NDArray[np.bool_]:
        """Return which of the arms at integer places (m, d) of the n-point grid lie in the cell, borders included."""
        low = np.array(self.corner) * (n - 1)
        return ((places * self.side >= low) & (places * self.side <= low + n - 1)).all(axis=1)

    def update(self, arm: int, observation: float, told: Told) -> None:
        """Condition on an observation of an arm in the cell."""
        if self.posterior is None:
            self.posterior = CovariancePosterior(told.kernel, told.points[self.arms], told.noise_variance)
        self.posterior.update(int(np.flatnonzero(self.arms == arm)[0]), observation)
        self.history.append((arm, observation))


class PartitionedUCB:
    """π-GP-UCB: in every cell the UCB of the data inside it, in every round the arm whose best cell is best.

    Width of a cell: norm + noise_scale sqrt(2 (gain of the cell + 1 + log(N / delta))), N = 4 (t + 1)^(b d) in round t
    (`paper`) or 4 (T + 1)^(d / (2 nu)) (`thesis`). `paper` starts from about T^q cells, and a child keeps all
    data inside it; `thesis` starts from one cell, and children start without data. The points must be a grid on
    [0, 1]^d, the norm must be told. Raises ValueError on a bad variant, smoothness or norm.
    """

    def __init__(self, told: Told, horizon: int, *, delta: float, nu: float, variant: str = "paper") -> None:
        checks.positive_int(horizon=horizon)
        checks.positive(norm=told.norm)
        checks.probability(delta=delta)
        checks.one_of(VARIANTS, variant=variant)
        if nu not in (0.5, 1.5, 2.5):
            raise ValueError(f"nu = {nu!r} is not allowed: nu must be 0.5, 1.5 or 2.5")
        self.told, self.horizon, self.delta, self.nu, self.variant, self.t = told, horizon, delta, nu, variant, 1
        self.d = told.points.shape[1]
        self._n = round(told.n_arms ** (1 / self.d))
        self._places = grid_indices(told.points, self._n)
        self._prior_sd = np.sqrt(told.kernel.diag(told.points))
        self._rank: Integers | None = None
        side = initial_side(horizon, self.d, nu) if variant == "paper" else 1
        self.cells: list[Cell] = []  # all that were ever created, split ones included
        corners = itertools.product(range(side), repeat=self.d)
        self._start([Cell(corner, side, np.empty(0, int)) for corner in corners])

    def _start(self, cells: list[Cell]) -> None:
        """Lay out the first cover: one slot for every pair of a cell and an arm in it."""
        self.n_initial = len(cells)
        for cell in cells:
            cell.arms = np.flatnonzero(cell.holds(self._places, self._n))
        self.cells = cells
        self._gain = np.zeros(len(cells))
        self.slot_arm = np.concatenate([cell.arms for cell in cells])
        self._slot_cell = np.repeat(np.arange(len(cells)), [len(cell.arms) for cell in cells])
        self._mean, self._sd = np.zeros(len(self.slot_arm)), self._prior_sd[self.slot_arm]
        # slots of a cell, in the order of its arms
        self._slots = np.split(np.arange(len(self.slot_arm)), np.cumsum([len(cell.arms) for cell in cells])[:-1])
        self._cells_of_arm: list[list[int]] = [[] for _ in self._places]
        for number, cell in enumerate(cells):
            for arm in cell.arms:
                self._cells_of_arm[arm].append(number)

    @property
    def n_created(self) -> int:
        """Number of cells ever created, those without arms included."""
        return len(self.cells)

    @property
    def largest_gain(self) -> float:
        """Largest information gain (nats) that the pulls of a cell have reached, split cells included."""
        return float(self._gain.max())

    def union_count(self) -> float:
        """Return N, the number of cells in the union bound of this round."""
        if self.variant == "paper":
            return 4 * (self.t + 1) ** (split_exponent(self.d, self.nu) * self.d)
        return 4 * (self.horizon + 1) ** (self.d / (2 * self.nu))

    def widths(self) -> Array:
        """Return the width of every cell ever created in this round, (n_created,)."""
        width = Improved(self.delta / self.union_count())
        return width.at(self._gain, norm=self.told.norm, noise_scale=self.told.noise_scale)

    def ask(self, rng: np.random.Generator) -> int:
        """Return the arm to pull; ties fall by one permutation, the first thing drawn from `rng`."""
        if self._rank is None:
            self._rank = rng.permutation(len(self._places))
        index = self._mean + self.widths()[self._slot_cell] * self._sd
        return int(self.slot_arm[best_arm(index, self._rank[self.slot_arm])])

    def tell(self, arm: int, observation: float) -> None:
        """Take in the observed reward of `arm`; IndexError on a bad arm, ValueError on a NaN."""
        checks.arm_index(arm, len(self._places))
        checks.finite_number(observation=observation)
        for number in list(self._cells_of_arm[arm]):
            cell = self.cells[number]
            cell.update(arm, observation, self.told)
            if must_split(cell.side, len(cell.history), self.d, self.nu, self.variant):
                self._gain[number] = cell.posterior.gain
                self._split(number)
            else:
                self._show(number)
        self.t += 1

    def band_ratio(self, expected_reward: Array) -> float:
        """Return the largest |f - mean| / (width sd) over cells and their arms: the band of Lemma 5 holds if <= 1."""
        error = np.abs(expected_reward[self.slot_arm] - self._mean)
        return float((error / (self.widths()[self._slot_cell] * self._sd)).max())

    def _show(self, number: int) -> None:
        """Copy a cell's posterior into its slots."""
        slots, posterior = self._slots[number], self.cells[number].posterior
        if posterior is None:
            self._mean[slots], self._sd[slots] = 0.0, self._prior_sd[self.slot_arm[slots]]
        else:
            self._mean[slots], self._sd[slots] = posterior.mean, posterior.sd
            self._gain[number] = posterior.gain

    def _split(self, number: int) -> None:
        """Replace a cell by its 2^d halves, which take over its slots; an arm on an inner border needs more."""
        parent = self.cells[number]
        children = [self._child(parent, offset) for offset in itertools.product((0, 1), repeat=self.d)]
        free = self._slots[number]
        extra = sum(len(child.arms) for child in children) - len(free)
        if extra:
            free = np.concatenate([free, self._add_slots(extra)])
        for arm in parent.arms:
            self._cells_of_arm[arm].remove(number)
        self._gain = np.concatenate([self._gain, np.zeros(len(children))])
        for child in children:
            new, free = free[: len(child.arms)], free[len(child.arms) :]
            self._adopt(child, new)
        parent.posterior, parent.history = None, []

    def _add_slots(self, n: int) -> Integers:
        """Lengthen the slots by n, and return the new ones."""
        first, blank = len(self.slot_arm), np.zeros(n)
        self.slot_arm = np.concatenate([self.slot_arm, blank.astype(int)])
        self._slot_cell = np.concatenate([self._slot_cell, blank.astype(int)])
        self._mean, self._sd = np.concatenate([self._mean, blank]), np.concatenate([self._sd, blank])
        return first + np.arange(n)

    def _adopt(self, child: Cell, slots: Integers) -> None:
        number = len(self.cells)
        self.cells.append(child)
        self._slots.append(slots)
        self.slot_arm[slots], self._slot_cell[slots] = child.arms, number
        for arm in child.arms:
            self._cells_of_arm[arm].append(number)
        self._show(number)

    def _child(self, parent: Cell, offset: tuple[int, ...]) -> Cell:
        corner = tuple(2 * c + o for c, o in zip(parent.corner, offset, strict=True))
        child = Cell(corner, 2 * parent.side, parent.arms)
        child.arms = parent.arms[child.holds(self._places[parent.arms], self._n)]
        if self.variant == "paper":
            inside = set(child.arms.tolist())
            for arm, observation in parent.history:
                if arm in inside:
                    child.update(arm, observation, self.told)
        return child
