"""The posterior whose time Table 1 of Janz et al. shows, on the pulls that a rule has made.

"Fitting a Gaussian process requires updating the inverse of a kernel matrix K_t" (Section 3): of
all pulls of IGP-UCB, of those in the cell of π-GP-UCB. It is read in two ways: the inverse of the
Cholesky factor grows by a row a pull (`Grown`), or everything is fitted anew in each round
(`Refitted`). Both give mean and variance of all arms, or of those of the cell. The package's own
posteriors cost less: they grow with the number of arms, not of pulls.

An operation is a multiplication with its addition. Of triangular matrices the zeros do not count,
nor do values of the kernel.
"""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.optimize import nnls

from kbrepro.bandits.problems import Model, Trial
from kbrepro.papers import Curves
from kbrepro.papers.pi_gp_ucb.measures import CellPulls, cells_of
from kbrepro.papers.pi_gp_ucb.partition import PartitionedUCB
from kbrepro.trials.curve import Curve, edges
from kbrepro.trials.simulation import Experiment, rounds, start_policy
from kbrepro.typing import Array, Integers


class _Textbook:
    """`mean` and `variance` (A,) of arms after t pulls, of at most `capacity`."""

    def __init__(self, model: Model, arms: Integers, capacity: int) -> None:
        self.model = model
        self.points = model.points[arms]
        self.t = 0
        # of each pull: its place among the arms, its number (an observation), its row over the arms
        self.pulled = np.zeros(capacity, dtype=int)
        self.numbers = np.zeros(capacity)
        self.rows = np.zeros((capacity, len(arms)))
        self.matrix = np.zeros((capacity, capacity))
        self.mean = np.zeros(len(arms))
        self.variance = model.kernel.diag(self.points)

    def take(self, places: Integers, observations: Array) -> None:
        """Take in pulls (m,) of arms at these places, before anybody asks for the posterior."""
        raise NotImplementedError

    @staticmethod
    def operations(n_arms: int, pulls: Integers) -> Array:
        """Return the operations of each of some calls of `take`, after which there are so many
        pulls, (n_calls,).
        """
        raise NotImplementedError

    def _covariances(self, place: int) -> tuple[Array, Array]:
        """The covariances of an arm with all arms (A,), and with the pulls (t,)."""
        row = self.model.kernel(self.points[place : place + 1], self.points)[0]
        return row, row[self.pulled[: self.t]]


class Grown(_Textbook):
    """The inverse of the Cholesky factor of K_t + alpha I grows by a row a pull: some t^2 + A t
    operations.
    """

    def take(self, places: Integers, observations: Array) -> None:
        for place, observed in zip(places, observations, strict=True):
            t = self.t
            row, covariances = self._covariances(place)
            inverse = self.matrix[:t, :t]
            white = inverse @ covariances
            scale = np.sqrt(row[place] + self.model.noise_variance - white @ white)
            self.matrix[t, :t] = -(white @ inverse) / scale
            self.matrix[t, t] = 1 / scale
            self.rows[t] = (row - white @ self.rows[:t]) / scale
            self.numbers[t] = (observed - white @ self.numbers[:t]) / scale
            self.pulled[t] = place
            self.mean += self.numbers[t] * self.rows[t]
            self.variance -= self.rows[t] ** 2
            self.t += 1

    @staticmethod
    def operations(n_arms: int, pulls: Integers) -> Array:
        """A pull with t before it takes t (t + 3) + A (t + 2)."""
        pairs = pulls * (pulls - 1) / 2
        squares = pairs * (2 * pulls - 1) / 3
        return np.diff(squares + (n_arms + 3) * pairs + 2 * n_arms * pulls, prepend=0)


class Refitted(_Textbook):
    """K_t + alpha I is factored anew in each round: some t^3 / 6 + A t^2 / 2 operations."""

    def take(self, places: Integers, observations: Array) -> None:
        for place, observed in zip(places, observations, strict=True):
            t = self.t
            row, covariances = self._covariances(place)
            self.matrix[t, :t] = covariances
            self.matrix[t, t] = row[place] + self.model.noise_variance
            self.rows[t] = row
            self.numbers[t] = observed
            self.pulled[t] = place
            self.t += 1
        t = self.t
        factor = cholesky(self.matrix[:t, :t], lower=True)
        white = solve_triangular(factor, self.rows[:t], lower=True)
        self.mean = solve_triangular(factor, self.numbers[:t], lower=True) @ white
        self.variance = self.model.kernel.diag(self.points) - (white**2).sum(axis=0)

    @staticmethod
    def operations(n_arms: int, pulls: Integers) -> Array:
        """A fit to t pulls takes t (t^2 - 1) / 6 + (A + 1) t (t - 1) / 2 + 2 A t."""
        pairs = pulls * (pulls - 1) / 2
        return pairs * (pulls + 1) / 3 + (n_arms + 1) * pairs + 2 * n_arms * pulls


#: The rule whose cells have a posterior each; IGP-UCB has one.
PARTITIONED = "π-GP-UCB"
#: What `replays` returns of a run: `seconds` and `counts` by rule.
Replay = Mapping[str, Mapping[str, Array]]
#: The readings of "updating the inverse of a kernel matrix".
FORMS = {"grown": Grown, "refitted": Refitted}


def whole(horizon: int, d: int) -> CellPulls:
    """Return the only cell of IGP-UCB: it covers everything, and never splits."""
    return CellPulls(np.zeros(d, dtype=int), 1, np.arange(horizon), -1, False)


def arms_of(cell: CellPulls, n: int) -> Integers:
    """Return the arms of a cell, rising, on the grid of n points a side, (m,)."""
    low = -(-cell.corner * (n - 1) // cell.side)
    high = (cell.corner + 1) * (n - 1) // cell.side
    axes = [np.arange(a, b + 1) for a, b in zip(low, high, strict=True)]
    return np.ravel_multi_index(np.ix_(*axes), (n,) * len(axes)).ravel()


def _visits(cell: CellPulls) -> tuple[Integers, Integers]:
    """The rounds in which a cell takes in pulls, inherited ones when it is born, and how many it
    has then.
    """
    at, many = np.unique(np.maximum(cell.rounds, cell.born), return_counts=True)
    return at, many.cumsum()


def counts(form: str, cells: Sequence[CellPulls], n: int, horizon: int) -> Array:
    """Return how many pulls the posteriors of these cells take in, and their operations, in each
    round, (horizon, 2).

    The arms are a grid of n points a side.
    """
    counted = np.zeros((horizon, 2))
    for cell in cells:
        at, pulls = _visits(cell)
        counted[at, 0] += np.diff(pulls, prepend=0)
        counted[at, 1] += FORMS[form].operations(len(arms_of(cell, n)), pulls)
    return counted


def replayed(
    form: str, cell: CellPulls, model: Model, n: int, arms: Integers, observations: Array
) -> Iterator[tuple[int, _Textbook]]:
    """Yield every round in which a cell takes in pulls, and its posterior then.

    `arms` and `observations` (T,) are those of the whole run.
    """
    inside = arms_of(cell, n)
    places = np.searchsorted(inside, arms[cell.rounds])
    observed = observations[cell.rounds]
    posterior = FORMS[form](model, inside, len(places))
    for at, pulls in zip(*_visits(cell), strict=True):
        new = slice(posterior.t, pulls)
        posterior.take(places[new], observed[new])
        yield at, posterior


def seconds(
    form: str, cells: Sequence[CellPulls], model: Model, n: int, arms: Integers, observations: Array
) -> Array:
    """Return the seconds of this thread that the posteriors of these cells take, (T,)."""
    spent = np.zeros(len(arms))
    for cell in cells:
        start = time.thread_time()
        for number, _ in replayed(form, cell, model, n, arms, observations):
            end = time.thread_time()
            spent[number] += end - start
            start = end
    return spent


def replays(
    experiment: Experiment, form: str, nu: float, until: Mapping[str, int], trial: Trial
) -> dict[str, dict[str, Array]]:
    """Play IGP-UCB and π-GP-UCB, and replay the pulls of each in its first `until` rounds through a
    form of FORMS.

    For each rule `seconds` (m,) and `counts` (m, 2), cumulated, after each hundredth of these
    rounds. A job for `Planned`.
    """
    problem = experiment.problem(trial)
    model = problem.model
    d = model.points.shape[1]
    n = round(model.n_arms ** (1 / d))
    measured = {}
    for rule, make in experiment.policies.items():
        policy = start_policy(make, model, experiment.horizon, trial)
        partitioned = isinstance(policy, PartitionedUCB)
        last = until[rule]
        # the first cover is made for all rounds
        played = experiment.horizon if partitioned else last
        pulls = [pull[1:] for pull in rounds(policy, problem, played, trial.rng("noise"))]
        arms = np.array([arm for arm, _ in pulls])
        observations = np.array([observed for _, observed in pulls])
        cells = [
            cell._replace(rounds=cell.rounds[cell.rounds < last])
            for cell in (cells_of(arms, n, d, nu) if partitioned else [whole(last, d)])
            if cell.born < last
        ]
        spent = seconds(form, cells, model, n, arms, observations)
        counted = counts(form, cells, n, played)
        at = edges(last)[1:] - 1
        measured[rule] = {"seconds": spent.cumsum()[at], "counts": counted.cumsum(axis=0)[at]}
    return measured


def seconds_each(replays: Iterable[Mapping[str, Array]]) -> Array:
    """Return the seconds of a pull and of an operation, (2,), at least 0, from replays of a rule.

    `counts` times these are its seconds, by least squares of the relative error. In small cells
    nearly all time is that of pulls, in large ones that of operations.
    """
    relative = np.concatenate([run["counts"] / run["seconds"][:, None] for run in replays])
    size = relative.mean(axis=0)
    found, _ = nnls(relative / size, np.ones(len(relative)))
    return found / size


def counted(traces: Curves, n: int, d: int, nu: float) -> dict[str, dict[str, Array]]:
    """Return by form of FORMS and rule what every run of IGP-UCB and π-GP-UCB counts in each
    hundredth of its rounds: pulls that its posterior takes in, and operations, (n_runs, 100, 2).

    The arms are a grid of n points a side, in d dimensions.
    """
    runs_of: dict[str, dict[str, Array]] = {form: {} for form in FORMS}
    for rule, trace in traces.items():
        runs: dict[str, list[Array]] = {form: [] for form in FORMS}
        for arms in trace.arms:
            cells = [*cells_of(arms, n, d, nu)] if rule == PARTITIONED else [whole(len(arms), d)]
            for form in FORMS:
                in_rounds = counts(form, cells, n, len(arms))
                runs[form].append(np.add.reduceat(in_rounds, edges(len(arms))[:-1]))
        for form in FORMS:
            runs_of[form][rule] = np.array(runs[form])
    return runs_of


def timed(
    traces: Curves,
    counted: Mapping[str, Mapping[str, Array]],
    replays: Mapping[str, Sequence[Replay]],
) -> dict[str, dict[str, Curve]]:
    """Return for each form that is replayed the curves of IGP-UCB and π-GP-UCB with the seconds of
    its posterior: what every run `counted`, times `seconds_each` of the replays of that form.
    """
    curves_of: dict[str, dict[str, Curve]] = {form: {} for form in replays}
    for form, runs in replays.items():
        for rule, trace in traces.items():
            spent = counted[form][rule] @ seconds_each([run[rule] for run in runs])
            curves_of[form][rule] = replace(trace, seconds=spent)
    return curves_of
