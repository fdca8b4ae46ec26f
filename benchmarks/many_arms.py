"""GP-UCB on lattices of more and more arms: seconds a round and memory of every form of the posterior, and of peers.

Arms: `grid(n, 3)`, Matérn 3/2 or squared exponential of lengthscale 0.2, the width of Chowdhury and Gopalan.
Then the runs of Table 1 of Janz et al. in three dimensions, T = 10000, beside the least that they must do: a pair of
transforms for every pull, and the product of the inverse with a column for every new arm, in blocks.
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from benchmarks.harness import STOP_AFTER, Aim, Question, again, row, timed
from benchmarks.peers import Refit, botorch, gpytorch, policy_on, scikit_learn
from kbrepro import figures
from kbrepro.confidence import Asking, Improved, Tighter
from kbrepro.kernels import Array, Kernel, Matern, SquaredExponential, grid
from kbrepro.papers.pi_gp_ucb.partition import PartitionedUCB
from kbrepro.papers.pi_gp_ucb.problems import Bumps
from kbrepro.papers.pi_gp_ucb.since import growing_variance
from kbrepro.policies import UCB
from kbrepro.posterior import CovariancePosterior, ExactPosterior, LatticePosterior, RowPosterior
from kbrepro.posterior.lattice import prior_covariance
from kbrepro.problems import Model, Problem, RKHSFunction, Trial
from kbrepro.simulation import rounds

TRIAL, MATERN, GAUSSIAN = Trial(2020, 0), Matern(0.2, nu=1.5), SquaredExponential(0.2)
#: Kernel of every job, and how its form of the posterior is loaded.
FORMS: dict[str, tuple[Kernel, Callable[[], type[ExactPosterior]]]] = {
    "lattice, by FFT": (MATERN, lambda: LatticePosterior),
    "lattice, by factors": (GAUSSIAN, lambda: LatticePosterior),
    "rows": (MATERN, lambda: RowPosterior),
    "covariance": (MATERN, lambda: CovariancePosterior),
    "scikit-learn": (GAUSSIAN, scikit_learn),
    "GPyTorch": (GAUSSIAN, gpytorch),
    "BoTorch": (GAUSSIAN, botorch),
    "GPyTorch, grid kernel": (GAUSSIAN, lambda: on_a_grid()),
}
#: Whose memory `tracemalloc` does not see.
TORCH = ("GPyTorch", "BoTorch", "GPyTorch, grid kernel")
#: Whose look in the papers' figures a job has.
LIKE = dict(zip(FORMS, ("IGP-UCB", "GP-UCB", "exact", "mini-GP-UCB", "EI", "MPI", "GP-TS", "BKB"), strict=True))
#: The widths of exact IGP-UCB, each with whether lambda grows with T.
WIDTHS: dict[str, tuple[Callable[[Asking], float], bool]] = {
    "width of 2017": (Improved(delta=0.1), False),
    "narrow width": (Tighter(delta=0.1), True),
}
COLUMNS = ["job", "arms", "t", "min_s", "median_s", "max_s", "peak_MB", "distinct", "of_floor", "repeats", "note"]


def on_a_grid() -> type[ExactPosterior]:
    """Return the posterior on GPyTorch's interpolation from a grid (KISS-GP with LOVE variances); or ImportError.

    Approximate: covariances are interpolated, solved by conjugate gradients, variances from a Lanczos root.
    """
    import gpytorch as library
    import torch

    torch.set_num_threads(1)

    class Model(library.models.ExactGP):
        def __init__(self, X, y, likelihood, side):
            super().__init__(X, y, likelihood)
            bounds = [(0.0, 1.0)] * X.shape[1]
            base, mean = library.kernels.RBFKernel(), library.means.ZeroMean()
            self.mean_module = mean
            self.covar_module = library.kernels.GridInterpolationKernel(base, side, X.shape[1], bounds)

        def forward(self, X):
            return library.distributions.MultivariateNormal(self.mean_module(X), self.covar_module(X))

    class OnAGrid(Refit):
        def fitted(self, X: Array, y: Array) -> tuple[Array, Array]:
            likelihood = library.likelihoods.GaussianLikelihood()
            side = round(len(self.points) ** (1 / 3))
            model = Model(torch.from_numpy(X), torch.from_numpy(y), likelihood, side).double().eval()
            likelihood.noise, model.covar_module.base_kernel.lengthscale = self.noise_variance, self.lengthscale
            with torch.no_grad(), library.settings.fast_pred_var():
                found = model(torch.from_numpy(self.points))
                return found.mean.numpy(), found.variance.numpy()

    return OnAGrid


def measure(sides: Sequence[int], horizon: int, table_1: tuple[int, int]) -> pd.DataFrame:
    """Return a row for every job and number of arms: seconds of its last quarter's rounds, its peak of memory (MB).

    Sizes: sides of the lattices, rounds of each; side and rounds of Table 1, d = 3.
    """
    found: list[dict[str, Any]] = []
    for side in sides:
        late = {its["job"] for its in found if "stopped" in its["note"]}
        for name in FORMS:
            size = {"arms": side**3, "t": horizon}
            found.append(
                row(name, [], "was stopped on fewer arms", **size) if name in late else _round(name, side, horizon)
            )
    return pd.DataFrame([*found, *three_dimensions(*table_1)], columns=COLUMNS)


def _round(name: str, side: int, horizon: int) -> dict[str, Any]:
    kernel, load = FORMS[name]
    size = {"arms": side**3, "t": horizon}
    tracemalloc.start()
    try:
        problem = RKHSFunction(kernel, grid(side, 3), 1.0, norm=2.0, n_centres=5)(TRIAL)
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        policy = policy_on(load(), problem.model, horizon, Improved(delta=0.1))
        run = timed(lambda: rounds(policy, problem, horizon, TRIAL.rng("run")), 1)
        peak = (tracemalloc.get_traced_memory()[1] - before) / 1e6
    except ImportError as error:
        return row(name, [], f"not measured: {error}", **size)
    except (MemoryError, RuntimeError) as error:
        _, of_torch, said = str(error).partition("DefaultCPUAllocator: ")  # torch has no error of its own for memory
        if not (isinstance(error, MemoryError) or of_torch):
            raise
        return row(name, [], said or str(error), **size)
    finally:
        tracemalloc.stop()
    steps, peak = run.steps[0], np.nan if name in TORCH else peak
    return row(name, steps[3 * len(steps) // 4 :], run.note, peak_MB=peak, **size | {"t": len(steps)})


def problem_of(side: int, horizon: int, grows: bool = False) -> Problem:
    """Return the problem of Table 1, d = 3; with `grows` lambda is the power of T that theory wants."""
    variance = growing_variance(horizon, 3, 1.5) if grows else 1.0
    return Bumps(MATERN, 3, side, noise_variance=variance, noise_bound=1.0)(TRIAL)


def three_dimensions(side: int, horizon: int) -> Iterator[dict[str, Any]]:
    """Yield the rows of Table 1, d = 3: exact IGP-UCB at both widths, π-GP-UCB."""
    for name, (width, grows) in WIDTHS.items():
        problem = problem_of(side, horizon, grows)
        policy = UCB(problem.model, horizon, width=width, form=LatticePosterior)
        run = timed(lambda p=policy, its=problem: rounds(p, its, horizon, TRIAL.rng("run")), 1, 5 * STOP_AFTER)
        distinct = policy.posterior.n_pulled
        least = floor(problem.model, horizon, distinct)
        known = {"arms": side**3, "t": horizon, "distinct": distinct, "of_floor": run.steps[0].sum() / least}
        yield row(f"Table 1, d = 3, {name}", run.totals(), run.note, **known)
    problem = problem_of(side, horizon)
    cells = PartitionedUCB(problem.model, horizon, delta=0.1, nu=1.5)
    run = timed(lambda: rounds(cells, problem, horizon, TRIAL.rng("run")), 1, 5 * STOP_AFTER)
    yield row("Table 1, d = 3, π-GP-UCB", run.totals(), run.note, arms=side**3, t=horizon)


def floor(model: Model, horizon: int, distinct: int) -> float:
    """Return the seconds of `horizon` products with K and, for every new arm, one of the inverse in blocks of 64."""
    K, v, size = prior_covariance(model.kernel, model.points), np.zeros(model.n_arms), max(distinct // 2, 64)
    v[:: max(len(v) // 100, 1)] = 1.0
    transform = np.median(timed(lambda: again(lambda: K(v), 20), 1).steps[0])
    inverse, block = np.full((size, size), 0.5), np.full((size, 64), 0.5)
    product = np.median(timed(lambda: again(lambda: inverse @ block, 5), 1).steps[0]) / 64
    # the sizes are 1, 2, ..., distinct: in the mean a third of distinct^2, here measured at a quarter
    return float(horizon * transform + distinct * product * 4 / 3)


def draw(table: pd.DataFrame) -> Figure:
    """Return megabytes and milliseconds a round against the number of arms."""
    figure, axes = plt.subplots(1, 2, figsize=(figures.WIDTH, 4.0), layout="constrained")
    its = table[table["job"].isin(list(FORMS))].dropna(subset="median_s")
    labels = f"memory after {its['t'].max()} rounds (MB)", "milliseconds a round, in the last quarter of these"
    for ax, column, label in zip(axes, ("peak_MB", "median_s"), labels, strict=True):
        for marker, (name, rows) in zip("osD^v<>P", its.groupby("job", sort=False), strict=False):
            look = figures.look(LIKE[str(name)]) | {"label": name, "marker": marker, "markersize": 4}
            if rows[column].notna().any():
                ax.plot(rows["arms"], rows[column] * (1e3 if column == "median_s" else 1), **look)
        ax.set(xscale="log", yscale="log", xlabel="arms A", ylabel=label)
        ax.xaxis.set_minor_formatter(NullFormatter())
    figures.label_ends(axes[1])
    most = its[its["arms"] == its["arms"].max()].sort_values("median_s").iloc[0]
    figure.suptitle(f"{most['arms']:,.0f} arms, exactly: {1e3 * most['median_s']:.0f} ms a round ({most['job']})")
    return figure


def aims(table: pd.DataFrame) -> list[Aim]:
    """Return what came of the aims: both widths near their floor, and how long the narrow one takes."""
    its = table.set_index("job")
    found = []
    for name in WIDTHS:
        run = its.loc[f"Table 1, d = 3, {name}"]
        why = f"{run['distinct']:.0f} distinct arms: reading their inverse for each new one is limited by memory"
        aim = f"d = 3, {name}: at most 2 times the floor of its transforms and products"
        found.append(Aim(aim, f"{run['of_floor']:.1f} times", bool(run["of_floor"] <= 2), why))
    return found


QUESTION = Question(
    "many_arms",
    "How long does a round take on a lattice of A arms, and how much memory? The last quarter of the rounds up to t, "
    f"d = 3. A job is stopped after {STOP_AFTER:g} s, and not played on more arms. Memory of torch is not counted. "
    "`of_floor`: seconds over those of its transforms and products alone.",
    measure,
    {"sides": (10, 20, 50, 100), "horizon": 128, "table_1": (30, 10_000)},
    {"sides": (4, 6), "horizon": 8, "table_1": (8, 40)},
    draw,
    lambda table: table,
    aims,
)
