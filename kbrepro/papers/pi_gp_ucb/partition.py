"""π-GP-UCB: a Gaussian process for every cell of a cover of [0, 1]^d by cubes that split.

The arms are a regular grid, so that cells and splits are decided in integers: a cell at level
`side` covers [k / side, (k + 1) / side] on each axis (closed), and the arm i / (n - 1) lies in it
if k (n - 1) <= i side <= (k + 1) (n - 1). In floats the splitting rule goes wrong where a power of
the side hits an integer.

Two variants: `paper` (Janz et al., 2020, Section 3) and `thesis` (the author's code of 2021 for his
thesis, Janz 2022, whose text we have not seen).
"""

import itertools
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from kbrepro import checks
from kbrepro.bandits.confidence import AbbasiYadkori2011, Chowdhury2017
from kbrepro.bandits.policies.base import AskTell, Seed, best_arm, learns
from kbrepro.bandits.posterior import CovariancePosterior, ExactPosterior, RowPosterior
from kbrepro.bandits.problems import Model
from kbrepro.papers.pi_gp_ucb.problems import grid_indices
from kbrepro.typing import Array, Bools, Integers

VARIANTS = ("paper", "thesis")
#: Which cells a width counts: those of the paper's Lemma 6, or all that T pulls can make.
UNIONS = ("printed", "horizon")
#: Cells of so many arms keep a row per pull, no covariance: they split long before so many pulls.
ROWS_FROM = 1000


def cover_exponent(d: int, nu: float) -> float:
    """Return q = d (d + 1) / (d (d + 2) + 2 nu): of order T^q cells (Janz et al., Lemma 2)."""
    return d * (d + 1) / (d * (d + 2) + 2 * nu)


def split_exponent(d: int, nu: float) -> float:
    """Return b = (d + 1) / (d + 2 nu): a cell of diameter rho has up to rho^(-1/b) pulls."""
    return (d + 1) / (d + 2 * nu)


def initial_side(horizon: int, d: int, nu: float) -> int:
    """Return the cells per side of a first cover of about T^q cells."""
    return max(1, round(horizon ** (cover_exponent(d, nu) / d)))


def must_split(side: int, pulls: int | Integers, d: int, nu: float, variant: str) -> bool | Bools:
    """Return whether a cell of diameter rho = 1 / side with so many pulls (or array) splits.

    `paper`: rho^(-1/b) < pulls + 1. `thesis`: rho^(-2 nu) < pulls. 2 nu must be an integer.
    """
    two_nu = int(2 * nu)
    if variant == "paper":
        return side ** (d + two_nu) < (pulls + 1) ** (d + 1)
    return side**two_nu < pulls


def possible_cells(horizon: int, d: int, nu: float) -> list[int]:
    """Return how many cells of each level some T = `horizon` pulls can create.

    Level 0 is the first cover; level i + 1 is reached where one cell of level i that holds all
    pulls splits. The sum is N_T of Proposition 1.
    """
    side = initial_side(horizon, d, nu)
    levels = [side**d]
    while must_split(side, horizon, d, nu, "paper"):
        side *= 2
        levels.append(side**d)
    return levels


class Cell(checks.Changing):
    """A closed cube [corner / side, (corner + 1) / side], its arms (m,) and observations.

    `mean` (m,), `sd` (m,) and `gain` (nats) are those of the posterior of the data inside.
    """

    mean: Array
    sd: Array

    def __init__(self, corner: tuple[int, ...], side: int, arms: Integers, model: Model) -> None:
        self.corner = corner
        self.side = side
        self.arms = checks.read_only(arms)
        self.model = model
        # arm and observation of every pull inside
        self._history: list[tuple[int, float]] = []
        # made at the first pull: most cells are never pulled
        self.posterior: ExactPosterior | None = None
        prior_sd = np.sqrt(model.kernel.diag(model.points[arms]))
        self._show(np.zeros(len(arms)), prior_sd, 0.0)

    def update(self, arm: int, observation: float) -> None:
        """Condition on an observation of `arm`; IndexError unless it lies in the cell."""
        if self.posterior is None:
            form = RowPosterior if len(self.arms) >= ROWS_FROM else CovariancePosterior
            model = self.model
            self.posterior = form(model.kernel, model.points[self.arms], model.noise_variance)
        place = int(np.flatnonzero(self.arms == arm)[0])
        self.posterior.update(place, observation)
        self._history.append((arm, observation))
        self._show(self.posterior.mean, self.posterior.sd, self.posterior.gain)

    def _show(self, mean: Array, sd: Array, gain: float) -> None:
        self.mean = checks.read_only(mean)
        self.sd = checks.read_only(sd)
        self.gain = gain


def _joined(*parts: ArrayLike) -> np.ndarray:
    return checks.read_only(np.concatenate(parts))


def _with(array: Array, at: int | Bools, values: float | Array) -> Array:
    """A copy with these values in some places."""
    copy = array.copy()
    copy[at] = values
    return checks.read_only(copy)


class PartitionedUCB(AskTell):
    """π-GP-UCB: the arm with the largest of all UCBs, one from the data of each of its cells.

    Width of a cell: `width(delta / N)` at its gain, by default norm + noise_scale sqrt(2 (gain + 1
    + log(N / delta))), N = 4 (t + 1)^(b d) in round t (`paper`) or 4 (T + 1)^(d / (2 nu))
    (`thesis`). That union of the paper is not proved; with `union` "horizon", for `paper` alone, N
    is the number of all cells that T pulls can make, which is (docs/adaptive_covers.md, Proposition
    1). `paper` starts from about T^q cells, a whole number per side, and a child keeps all data
    inside it; `thesis` starts from one cell, and children start without data. With `split_gain`
    (nats) a cell of several arms splits once its gain is larger, however many its pulls (an idea of
    Section 7): no band is proved for that. The points must be a grid on [0, 1]^d, the norm must be
    given. Arms of cells without data tie: to go on later in the same order of ties it must be
    saved. ValueError on a setting out of range, or off the grid.

    `cells` are all that were ever created, split and empty ones included, and `cell_gain`
    (len(cells),) their gains. A *slot* is a pair of an arm and a cell that it lies in: `slot_arm`
    and `slot_cell` (n_slots,) are numbers of arms and of cells that have not split, `slot_mean` and
    `slot_sd` (n_slots,) what the cell knows of the arm.
    """

    def __init__(
        self,
        model: Model,
        horizon: int,
        *,
        delta: float,
        nu: float,
        variant: str = "paper",
        width: Callable[[float], Chowdhury2017 | AbbasiYadkori2011] = Chowdhury2017,
        union: str = "printed",
        split_gain: float | None = None,
        rng: Seed = 0,
    ) -> None:
        self.start(model, rng)
        checks.positive_int(horizon=horizon)
        checks.positive(norm=model.norm)
        checks.probability(delta=delta)
        checks.one_of(VARIANTS, variant=variant)
        checks.one_of(UNIONS if variant == "paper" else UNIONS[:1], union=union)
        checks.one_of((0.5, 1.5, 2.5), nu=nu)
        if split_gain is not None:
            checks.positive(split_gain=split_gain)
        self.horizon = horizon
        self.delta = delta
        self.nu = nu
        self.variant = variant
        self.width = width
        self.union = union
        self.split_gain = split_gain
        self.d = model.points.shape[1]
        self._possible = sum(possible_cells(horizon, self.d, nu))
        self._n = round(model.n_arms ** (1 / self.d))
        self._places = grid_indices(model.points, self._n)
        self.prior_sd = float(np.sqrt(model.kernel.diag(model.points).max()))
        self.cells: tuple[Cell, ...] = ()
        self.slot_arm = self.slot_cell = np.empty(0, dtype=int)
        none: Array = np.empty(0)
        self.slot_mean = self.slot_sd = self.cell_gain = none
        side = initial_side(horizon, self.d, nu) if variant == "paper" else 1
        corners = itertools.product(range(side), repeat=self.d)
        self._lay_out([self._cell(corner, side, np.arange(model.n_arms)) for corner in corners])

    def widths(self) -> Array:
        """Return the width of every cell ever created in this round, (len(cells),)."""
        count: float = self._possible
        if self.variant == "thesis":
            count = 4 * (self.horizon + 1) ** (self.d / (2 * self.nu))
        elif self.union == "printed":
            count = 4 * (self.t + 1) ** (split_exponent(self.d, self.nu) * self.d)
        return self.width(self.delta / count).of(self.model, self.cell_gain)

    def choose(self) -> int:
        """Return the arm to pull; ties fall by one permutation, drawn first."""
        order = self.ties()
        index = self.slot_mean + self.widths()[self.slot_cell] * self.slot_sd
        return int(self.slot_arm[best_arm(index, order[self.slot_arm], self.prior_sd)])

    @learns("cells", "slot_arm", "slot_cell", "slot_mean", "slot_sd", "cell_gain", "t")
    def learn(self, arm: int, observation: float) -> None:
        """Take in the observed reward of `arm`; ValueError on a NaN."""
        for number in self.slot_cell[self.slot_arm == arm]:
            cell = self.cells[number]
            cell.update(arm, observation)
            slots = self.slot_cell == number
            self.slot_mean = _with(self.slot_mean, slots, cell.mean)
            self.slot_sd = _with(self.slot_sd, slots, cell.sd)
            self.cell_gain = _with(self.cell_gain, number, cell.gain)
            if self._is_full(cell):
                self._split(number)
        self.t += 1

    def band_ratio(self, expected_reward: Array) -> float:
        """Return the largest |f - mean| / (width sd): the band of Lemma 5 holds if <= 1."""
        error = np.abs(expected_reward[self.slot_arm] - self.slot_mean)
        return float((error / (self.widths()[self.slot_cell] * self.slot_sd)).max())

    def half_width(self, arm: int) -> float:
        """Return width times sd of an arm in the cell where its index is largest."""
        own = self.slot_arm == arm
        half = self.widths()[self.slot_cell[own]] * self.slot_sd[own]
        return float(half[(self.slot_mean[own] + half).argmax()])

    def _cell(self, corner: tuple[int, ...], side: int, among: Integers) -> Cell:
        """Return a cell with those of the arms `among` that lie in it, borders included."""
        places = self._places[among] * side
        low = np.array(corner) * (self._n - 1)
        inside = ((places >= low) & (places <= low + self._n - 1)).all(axis=1)
        return Cell(corner, side, among[inside], self.model)

    def _lay_out(self, cells: list[Cell], instead_of: int = -1) -> None:
        """Number new cells and give them slots, instead of those of a cell that has split."""
        kept = self.slot_cell != instead_of
        new = len(self.cells) + np.arange(len(cells))
        numbers = np.repeat(new, [len(cell.arms) for cell in cells])
        self.cells = *self.cells, *cells
        self.slot_cell = _joined(self.slot_cell[kept], numbers)
        self.slot_arm = _joined(self.slot_arm[kept], *(cell.arms for cell in cells))
        self.slot_mean = _joined(self.slot_mean[kept], *(cell.mean for cell in cells))
        self.slot_sd = _joined(self.slot_sd[kept], *(cell.sd for cell in cells))
        self.cell_gain = _joined(self.cell_gain, [cell.gain for cell in cells])

    def _is_full(self, cell: Cell) -> bool:
        """Whether a cell that was pulled must split."""
        if self.split_gain is not None:
            return len(cell.arms) > 1 and cell.gain > self.split_gain
        return bool(must_split(cell.side, len(cell._history), self.d, self.nu, self.variant))

    def _split(self, number: int) -> None:
        """Replace a cell by its 2^d halves; an arm on an inner border lies in several."""
        parent = self.cells[number]
        inherited = parent._history if self.variant == "paper" else []
        children = []
        for offset in itertools.product((0, 1), repeat=self.d):
            corner = tuple(2 * c + o for c, o in zip(parent.corner, offset, strict=True))
            child = self._cell(corner, 2 * parent.side, parent.arms)
            for arm, observation in inherited:
                if arm in child.arms:
                    child.update(arm, observation)
            children.append(child)
        self._lay_out(children, instead_of=number)
        parent.posterior = None
        parent._history = []
