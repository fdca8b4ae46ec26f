"""What Theorem 1 and the results around it say of a run, and what is read off regret.

Jobs for `simulation.map_trials` have every setting before the `Trial`.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh, eigvalsh

from kbrepro import checks
from kbrepro.kernels import Array
from kbrepro.papers.bkb.policy import BKB
from kbrepro.papers.bkb.sketch import RANK_TOLERANCE, BudgetedPosterior, NystromPosterior
from kbrepro.papers.bkb.starvation import Design, Pulls
from kbrepro.posterior import RowPosterior
from kbrepro.problems import GPDraw, Trial
from kbrepro.regret import Trace, log_spaced
from kbrepro.simulation import Experiment, rounds

# Theorem 1


class Ratios(NamedTuple):
    """BKB after each of T pulls, (T,) each: smallest and largest ratio BKB over exact of the variances of all arms.

    `members` and `distinct` ones of the dictionary, and `expected`, the sum of their inclusion probabilities.
    """

    low: Array
    high: Array
    members: Array
    distinct: Array
    expected: Array


class Followed(NamedTuple):
    """Ratios by qbar; of the exact posterior d_eff (T,) and the smallest variance / lambda of a pulled arm (T,)."""

    by_qbar: dict[float, Ratios]
    dimension: Array
    smallest: Array


def variance_ratios(
    source: GPDraw, design: Design, horizon: int, qbars: list[float], form: type[BudgetedPosterior], trial: Trial
) -> Followed:
    """Return how the variance of the posterior `form` follows the exact one (Calandriello et al., Theorem 1).

    From qbar = 1 over `smallest` on every pull enters the dictionary.
    """
    rng, given = trial.rng("run"), (source.kernel, source.points, source.noise_variance)
    exact, sketches = RowPosterior(*given), {q: form(*given, q, rng.spawn(1)[0]) for q in qbars}
    found = {q: np.empty((5, horizon)) for q in qbars}
    dimension, smallest = np.empty(horizon), np.empty(horizon)
    for t, arm in enumerate(design(rng, source.points, horizon)):
        exact.update(arm, 0.0)  # no variance depends on what is observed
        for q, sketch in sketches.items():
            inclusion = sketch.inclusion()
            sketch.update(arm, 0.0)
            ratio, sizes = sketch.variance / exact.variance, (len(sketch.dictionary), len(sketch.inducing))
            found[q][:, t] = ratio.min(), ratio.max(), *sizes, sketch.counts @ inclusion
        dimension[t] = exact.counts @ exact.variance / source.noise_variance
        smallest[t] = exact.variance[exact.counts > 0].min() / source.noise_variance
    return Followed({q: Ratios(*its) for q, its in found.items()}, dimension, smallest)


def bad_steps(ratios: Ratios, alpha: float) -> NDArray[np.bool_]:
    """Return whether some arm's ratio is outside [1/alpha, alpha] after each pull, (T,)."""
    return (ratios.low < 1 / alpha) | (ratios.high > alpha)


class Dictionaries(NamedTuple):
    """Runs of one design and qbar: share of `bad` steps, m_T / (qbar d_eff), mean m_t / expected, each (n,); smallest
    bound over members of all.
    """

    bad: Array
    size: Array
    close: Array
    bound: float


def dictionaries(runs: list[Followed], qbar: float, noise_variance: float, alpha: float) -> Dictionaries:
    """Return what Theorem 1 speaks of, for runs of `variance_ratios`.

    Its bound on the members, for kernels of variance 1: 3 (1 + 1 / lambda) alpha qbar d_eff.
    """
    its = [run.by_qbar[qbar] for run in runs]
    bounds = [3 * (1 + 1 / noise_variance) * alpha * qbar * run.dimension for run in runs]
    return Dictionaries(
        np.array([bad_steps(ratios, alpha).mean() for ratios in its]),
        np.array([r.members[-1] / (qbar * run.dimension[-1]) for r, run in zip(its, runs, strict=True)]),
        np.array([(ratios.members / ratios.expected).mean() for ratios in its]),
        float(min((bound / ratios.members).min() for bound, ratios in zip(bounds, its, strict=True))),
    )


def equal_size(source: GPDraw, design: Design, horizon: int, qbar: float, trial: Trial) -> tuple[float, float]:
    """Return the worst inflation after `horizon` pulls, of BKB and of DTC on as many pulls drawn uniformly."""
    rng, given = trial.rng("run"), (source.kernel, source.points, source.noise_variance)
    pulls = design(rng, source.points, horizon)
    exact, sketch = RowPosterior(*given), BudgetedPosterior(*given, qbar, rng.spawn(1)[0])
    uniform = NystromPosterior(*given)
    for arm in pulls:
        for posterior in (exact, sketch, uniform):
            posterior.update(arm, 0.0)
    uniform.use_dictionary(rng.choice(pulls, len(sketch.dictionary), replace=False))
    return float((sketch.variance / exact.variance).max()), float((uniform.variance / exact.variance).max())


# What is proved of variances and determinants


def dimension_chain(source: GPDraw, design: Design, horizon: int, trial: Trial) -> Array:
    """Return the four quantities of Calandriello et al., Proposition 5, after each of `horizon` pulls, (horizon, 4).

    Effective dimension, sum of sigma_s^2(x_s) (after the point's own observation, divided by noise_variance),
    log det(K / noise_variance + I), and d_eff (1 + log(|K| / noise_variance + 1)), |K| the spectral norm.
    """
    kernel, points, noise_variance = source.kernel, source.points, source.noise_variance
    posterior, pulls = RowPosterior(kernel, points, noise_variance), design(trial.rng("run"), points, horizon)
    chain, own = np.empty((horizon, 4)), 0.0
    for t, arm in enumerate(pulls):
        posterior.update(arm, 0.0)
        own += posterior.variance[arm] / noise_variance
        X = points[pulls[: t + 1]]
        spectrum = np.maximum(eigvalsh(kernel(X, X)), 0.0) / noise_variance
        dimension = (spectrum / (1 + spectrum)).sum()
        chain[t] = dimension, own, np.log1p(spectrum).sum(), dimension * (1 + np.log1p(spectrum[-1]))
    return chain


def replacement_of_log_det(chain: Array) -> Array:
    """Return d_eff log(t) over log det for t = 2, 3, ... of a chain (..., T, 4) (Section 4.1; kappa = 1)."""
    t = np.arange(2, chain.shape[-2] + 1)
    return chain[..., 1:, 0] * np.log(t) / chain[..., 1:, 2]


class Violations(NamedTuple):
    """Largest relative violation of Proposition 4 and of log det(sketch) <= log det, and the eigenvalues of A~ in A.

    `low`, `high`: the smallest and largest generalised eigenvalue at the end; Corollary 3: within [1/alpha, alpha].
    """

    variance: float
    determinant: float
    low: float
    high: float


def violations(source: GPDraw, design: Design, horizon: int, qbar: float, trial: Trial) -> Violations:
    """Return how far a run violates Proposition 4, Corollary 3 and the determinants' order (Calandriello et al., 4.1).

    Proposition 4, with variances divided by lambda: sigma_t-1^2(x) / (1 + sigma_t-1^2(x_t)) <= sigma_t^2(x) <=
    sigma_t-1^2(x) for all arms x, x_t the newest pull.
    """
    rng, noise_variance = trial.rng("run"), source.noise_variance
    given = source.kernel, source.points, noise_variance
    pulls = design(rng, source.points, horizon)
    exact, sketch = RowPosterior(*given), BudgetedPosterior(*given, qbar, rng.spawn(1)[0])
    variance = determinant = -np.inf
    for arm in pulls:
        before = exact.variance / noise_variance
        exact.update(arm, 0.0)
        sketch.update(arm, 0.0)
        now = exact.variance / noise_variance
        variance = max(variance, (before / (1 + before[arm]) / now - 1).max(), (now / before - 1).max())
        determinant = max(determinant, sketch.gain / exact.gain - 1)
    ratios = _operators(source.kernel(source.points[pulls], source.points[pulls]), pulls, sketch, noise_variance)
    return Violations(variance, determinant, ratios[0], ratios[-1])


def _operators(K: Array, pulls: Pulls, sketch: BudgetedPosterior, noise_variance: float) -> Array:
    """Eigenvalues of P Phi'Phi P + lambda relative to Phi'Phi + lambda on the span of the pulls; elsewhere 1."""
    values, vectors = np.linalg.eigh(K)
    kept = values > RANK_TOLERANCE * values[-1]
    Phi = vectors[:, kept] * np.sqrt(values[kept])  # one row a pull, in an orthonormal basis of their span
    U, s, _ = np.linalg.svd(Phi[np.isin(pulls, sketch.inducing)].T, full_matrices=False)
    U = U[:, s**2 > RANK_TOLERANCE * s[0] ** 2]
    P, ridge = U @ U.T, noise_variance * np.eye(Phi.shape[1])
    return eigh(P @ Phi.T @ Phi @ P + ridge, Phi.T @ Phi + ridge, eigvals_only=True)


# Regret


def last_decade(trace: Trace) -> tuple[Array, Array]:
    """Return R_T and R_(T/10) of every trial, (n,) each."""
    curves = trace.cumulative_regret
    return curves[:, -1], curves[:, max(1, curves.shape[1] // 10) - 1]


def exponent(final: Array, tenth: Array, *other: Array) -> Array:
    """Return the exponent of t in the mean regret over the last decade, from `last_decade`, over the last axis.

    Less that of an `other` rule, if its `last_decade` follows.
    """
    return np.log10(final.mean(axis=-1) / tenth.mean(axis=-1)) - (exponent(*other) if other else 0.0)


class Sized(NamedTuple):
    """Members of a dictionary after each pull, and the arms pulled, (T,) each."""

    members: NDArray[np.int64]
    arms: Pulls


def sizes(experiment: Experiment, trial: Trial) -> dict[str, Sized]:
    """Return what every policy of an experiment, each with a dictionary, pulls and keeps; for `map_trials`."""
    problem, found = experiment.problem(trial), {}
    for name, make in experiment.policies.items():
        policy, arms, members = make(problem.model, experiment.horizon), [], []
        assert isinstance(policy, BKB)
        for _, arm, _ in rounds(policy, problem, experiment.horizon, trial.rng("run")):
            arms.append(arm)
            members.append(len(policy.posterior.dictionary))
        found[name] = Sized(np.array([*members[1:], len(policy.posterior.dictionary)]), np.array(arms))
    return found


def largest_ratio(trace: Trace, first: int = 10) -> Array:
    """Return the largest |f - mean| / (width sd) from round `first` on, (n,): before, the maximum is the prior's."""
    checks.positive_int(first=first)
    return trace.band_ratio[:, log_spaced(trace.horizon) >= first].max(axis=1)
