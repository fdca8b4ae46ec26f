"""What Theorem 1 of Calandriello et al. and the results around it bound, in one run; and how a dictionary grows.

Jobs for `simulation.map_trials` take the `Trial` last.
"""

from typing import Any

import numpy as np
from scipy.linalg import eigh, eigvalsh

from kbrepro.kernels import Array
from kbrepro.papers.bkb.sketch import RANK_TOLERANCE, BudgetedPosterior, NystromPosterior
from kbrepro.papers.bkb.starvation import Design, Pulls
from kbrepro.posterior import RowPosterior
from kbrepro.problems import GPDraw, Trial

# Theorem 1


def variance_ratios(
    source: GPDraw, design: Design, horizon: int, qbars: list[float], form: type[BudgetedPosterior], trial: Trial
) -> dict[str, Any]:
    """Return how the variance of the posterior `form` follows the exact one (Calandriello et al., Theorem 1).

    `by_qbar`: after each of T pulls, (T,) to seven digits, `low` and `high`, the smallest and largest ratio to the
    exact variance over the arms; `members` of the dictionary; `expected`, the sum of all pulls' inclusion
    probabilities. `dimension` (T,): d_eff of the exact posterior.
    """
    rng, given = trial.rng("run"), (source.kernel, source.points, source.noise_variance)
    exact, sketches = RowPosterior(*given), {q: form(*given, q, rng.spawn(1)[0]) for q in qbars}
    ratios, dimension = {q: np.empty((4, horizon), np.float32) for q in qbars}, np.empty(horizon, np.float32)
    for t, arm in enumerate(design(rng, source.points, horizon)):
        exact.update(arm, 0.0)  # no variance depends on what is observed
        for q, sketch in sketches.items():
            inclusion = sketch.inclusion()
            sketch.update(arm, 0.0)
            ratio = sketch.variance / exact.variance
            ratios[q][:, t] = ratio.min(), ratio.max(), len(sketch.dictionary), sketch.counts @ inclusion
        dimension[t] = exact.counts @ exact.variance / source.noise_variance
    names = "low", "high", "members", "expected"
    return {"by_qbar": {q: dict(zip(names, rows, strict=True)) for q, rows in ratios.items()}, "dimension": dimension}


def equal_size(source: GPDraw, design: Design, horizon: int, qbar: float, trial: Trial) -> tuple[float, float]:
    """Return the largest approximate over exact variance after `horizon` pulls: BKB's, and DTC's on as many pulls."""
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


def violations(source: GPDraw, design: Design, horizon: int, qbar: float, trial: Trial) -> dict[str, float]:
    """Return how far a run violates Proposition 4, Corollary 3 and the determinants' order (Calandriello et al., 4.1).

    Proposition 4, with variances divided by lambda: sigma_t-1^2(x) / (1 + sigma_t-1^2(x_t)) <= sigma_t^2(x) <=
    sigma_t-1^2(x) for all arms x, x_t the newest pull. `variance`, `determinant`: the largest relative violations of it
    and of log det(sketch) <= log det; `low`, `high`: the smallest and largest eigenvalue of A~ relative to A at the
    end, by Corollary 3 within [1/alpha, alpha].
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
    return {"variance": variance, "determinant": determinant, "low": ratios[0], "high": ratios[-1]}


def _operators(K: Array, pulls: Pulls, sketch: BudgetedPosterior, noise_variance: float) -> Array:
    """Eigenvalues of P Phi'Phi P + lambda relative to Phi'Phi + lambda on the span of the pulls; elsewhere 1."""
    values, vectors = np.linalg.eigh(K)
    kept = values > RANK_TOLERANCE * values[-1]
    Phi = vectors[:, kept] * np.sqrt(values[kept])  # one row a pull, in an orthonormal basis of their span
    U, s, _ = np.linalg.svd(Phi[np.isin(pulls, sketch.inducing)].T, full_matrices=False)
    U = U[:, s**2 > RANK_TOLERANCE * s[0] ** 2]
    P, ridge = U @ U.T, noise_variance * np.eye(Phi.shape[1])
    return eigh(P @ Phi.T @ Phi @ P + ridge, Phi.T @ Phi + ridge, eigvals_only=True)
