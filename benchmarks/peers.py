"""GP-UCB with this package and with a model of another library that is fitted anew after each pull.

1000 arms on [0, 1], squared exponential kernel of lengthscale 0.2, noise variance 0.025, the width
of Theorem 1 of Srinivas et al. All of them are exact, so all must pull the same arms.
Hyperparameters are given, nothing is optimised.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.harness import STOP_AFTER, row, timed
from kbrepro.confidence import Srinivas2010
from kbrepro.kernels import Array, Kernel, SquaredExponential, grid
from kbrepro.policies import UCB
from kbrepro.posterior import CovariancePosterior, ExactPosterior, RowPosterior
from kbrepro.problems import GPDraw, Model, Problem, Trial
from kbrepro.simulation import rounds

OURS, THEOREM_1 = "kbrepro", Srinivas2010(delta=0.1)


class Refit(ExactPosterior):
    """The interface of a posterior on a model that is fitted anew after each pull; subclasses give
    `fitted`.
    """

    def __init__(
        self, kernel: Kernel, points: Array, noise_variance: float, mean: float = 0.0
    ) -> None:
        super().__init__(kernel, points, noise_variance, mean=mean)
        self.points, self.lengthscale = points, kernel.lengthscale
        self.model: Any = None  #: that of the library, where it is one
        self._pulled: list[int] = []
        self._observations: list[float] = []

    def update(self, arm: int, observation: float) -> None:
        self._pulled.append(arm)
        self._observations.append(observation)
        self._deviation, self._variance = self.fitted(
            self.points[self._pulled], np.array(self._observations)
        )

    def forget(self, n: int) -> None:
        """Leave out the last n observations from the next fit on."""
        del self._pulled[-n:], self._observations[-n:]

    def fitted(self, X: Array, y: Array) -> tuple[Array, Array]:
        """Return mean and variance (A,) of all points, of a model fitted to inputs (t, d) and
        observations (t,).
        """
        raise NotImplementedError


def scikit_learn() -> type[ExactPosterior]:
    """Return the posterior on scikit-learn's regressor; ImportError where it is not installed."""
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF

    class ScikitLearn(Refit):
        def fitted(self, X: Array, y: Array) -> tuple[Array, Array]:
            model = GaussianProcessRegressor(
                RBF(self.lengthscale), alpha=self.noise_variance, optimizer=None
            )
            mean, sd = model.fit(X, y).predict(self.points, return_std=True)
            return mean, sd**2

    return ScikitLearn


def gpytorch() -> type[ExactPosterior]:
    """Return the posterior on GPyTorch's exact model, by Cholesky factors in double precision; or
    ImportError.
    """
    import gpytorch
    import torch

    torch.set_num_threads(1)
    exactly = gpytorch.settings

    class Model(gpytorch.models.ExactGP):
        def __init__(self, X, y, likelihood):
            super().__init__(X, y, likelihood)
            self.mean_module, self.covar_module = (
                gpytorch.means.ZeroMean(),
                gpytorch.kernels.RBFKernel(),
            )

        def forward(self, X):
            return gpytorch.distributions.MultivariateNormal(
                self.mean_module(X), self.covar_module(X)
            )

    class GPyTorch(Refit):
        def fitted(self, X: Array, y: Array) -> tuple[Array, Array]:
            likelihood = gpytorch.likelihoods.GaussianLikelihood()
            model = Model(torch.from_numpy(X), torch.from_numpy(y), likelihood).double().eval()
            likelihood.noise, model.covar_module.lengthscale = self.noise_variance, self.lengthscale
            with (
                torch.no_grad(),
                exactly.fast_computations(False, False, False),
                exactly.max_cholesky_size(10_000),
            ):
                posterior = model(torch.tensor(self.points))
                return posterior.mean.numpy(), posterior.variance.numpy()

    return GPyTorch


def botorch() -> type[ExactPosterior]:
    """Return the posterior on BoTorch's SingleTaskGP of known noise; ImportError where it is not
    installed.
    """
    import torch
    from botorch.models import SingleTaskGP
    from gpytorch.kernels import RBFKernel
    from gpytorch.means import ZeroMean
    from gpytorch.settings import fast_computations, max_cholesky_size

    torch.set_num_threads(1)

    class BoTorch(Refit):
        def fitted(self, X: Array, y: Array) -> tuple[Array, Array]:
            kernel, y = RBFKernel().double(), torch.from_numpy(y)[:, None]
            kernel.lengthscale = self.lengthscale
            given = {
                "train_Yvar": torch.full_like(y, self.noise_variance),
                "outcome_transform": None,
            }
            self.model = SingleTaskGP(
                torch.from_numpy(X), y, covar_module=kernel, mean_module=ZeroMean(), **given
            )
            with torch.no_grad(), fast_computations(False, False, False), max_cholesky_size(10_000):
                posterior = self.model.posterior(torch.tensor(self.points))
                return posterior.mean.numpy()[:, 0], posterior.variance.numpy()[:, 0]

    return BoTorch


#: How each form of the posterior is loaded, the reference first.
FORMS: dict[str, Callable[[], type[ExactPosterior]]] = {
    OURS: lambda: RowPosterior,
    f"{OURS}, covariance": lambda: CovariancePosterior,
    "scikit-learn": scikit_learn,
    "GPyTorch": gpytorch,
    "BoTorch": botorch,
}


def policy_on(
    form: type[ExactPosterior],
    model: Model,
    horizon: int,
    width: Callable[[Any], float] = THEOREM_1,
) -> UCB:
    """Return GP-UCB on a form of the posterior."""
    return UCB(model, horizon, width=width, form=form)


def measure(n_arms: int, horizons: Sequence[int], repeats: int) -> pd.DataFrame:
    """Return a row for every form and number of rounds: the first rounds of runs of the longest
    horizon.
    """
    problem = GPDraw(SquaredExponential(0.2), grid(n_arms), noise_variance=0.025)(Trial(1, 0))
    rows, reference = [], {}
    for name, load in FORMS.items():
        try:
            form = load()
        except ImportError as error:
            rows += [row(name, [], f"not measured: {error}", rounds=T) for T in horizons]
        else:
            rows += _rows(name, form, problem, horizons, repeats, reference)
    return pd.DataFrame(rows)[
        ["job", "rounds", "min_s", "median_s", "max_s", "times", "same_arms", "repeats", "note"]
    ]


def _rows(
    name: str,
    form: type[ExactPosterior],
    problem: Problem,
    horizons: Sequence[int],
    repeats: int,
    reference: dict,
) -> list[dict]:
    """The rows of a form: `times` is its median over that of the reference, which the first call
    fills.
    """

    def play(T: int) -> Iterator[tuple[int, int, float]]:
        return rounds(policy_on(form, problem.model, T), problem, T, np.random.default_rng(2))

    list(play(2))  # what a library does once in a process is not timed
    run = timed(lambda: play(max(horizons)), repeats)
    arms, rows = [arm for _, arm, _ in run.items], []
    for t in horizons:
        seconds = run.totals(first=t)
        if not seconds:
            rows.append(row(name, [], run.note, rounds=t))
            continue
        ours, their_arms = reference.setdefault(t, (np.median(seconds), arms[:t]))
        same = their_arms == arms[:t]
        rows.append(row(name, seconds, rounds=t, times=np.median(seconds) / ours, same_arms=same))
    return rows


ASKS = (
    "How long do T rounds of GP-UCB take on 1000 arms if another library's model is fitted anew"
    " after each pull? `times`: as long as here, ratio of medians. A job is stopped after"
    f" {STOP_AFTER:g} s."
)
FULL = {"n_arms": 1000, "horizons": (100, 200, 500, 1000), "repeats": 3}
TOY = {"n_arms": 30, "horizons": (4, 8), "repeats": 2}
