"""GP-UCB with this package and with a model of another library that is fitted anew after each pull.

1000 arms on [0, 1], squared exponential kernel of lengthscale 0.2, noise variance 0.025, the width
of Theorem 1 of Srinivas et al. All of them are exact, so all must pull the same arms.
Hyperparameters are given, nothing is optimised.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.harness import STOP_AFTER, Play, compared
from kbrepro.bandits.confidence import Srinivas2010
from kbrepro.bandits.kernels import Array, SquaredExponential, grid
from kbrepro.bandits.policies import UCB
from kbrepro.bandits.posterior import CovariancePosterior, ExactPosterior, RowPosterior
from kbrepro.bandits.problems import GPDraw, Model, Problem, Trial
from kbrepro.trials.simulation import rounds

OURS = "kbrepro"
THEOREM_1 = Srinivas2010(delta=0.1)


class Refit(ExactPosterior):
    """The interface of a posterior on a model that is fitted anew after each pull; subclasses give
    `fitted`.
    """

    def _prepare(self) -> None:
        self.points = self._points
        self.lengthscale = self._kernel.lengthscale
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
            self.mean_module = gpytorch.means.ZeroMean()
            self.covar_module = gpytorch.kernels.RBFKernel()

        def forward(self, X):
            return gpytorch.distributions.MultivariateNormal(
                self.mean_module(X), self.covar_module(X)
            )

    class GPyTorch(Refit):
        def fitted(self, X: Array, y: Array) -> tuple[Array, Array]:
            likelihood = gpytorch.likelihoods.GaussianLikelihood()
            model = Model(torch.from_numpy(X), torch.from_numpy(y), likelihood).double().eval()
            likelihood.noise = self.noise_variance
            model.covar_module.lengthscale = self.lengthscale
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
            kernel = RBFKernel().double()
            y = torch.from_numpy(y)[:, None]
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


def tinygp() -> type[ExactPosterior]:
    """Return the posterior on tinygp's GaussianProcess, compiled once for each power of two of
    observations; ImportError where it is not installed.
    """
    import jax
    import jax.numpy as jnp
    from tinygp import GaussianProcess
    from tinygp.kernels import ExpSquared

    jax.config.update("jax_enable_x64", True)

    @jax.jit
    def posterior(lengthscale, noise_variance, X, y, points):
        known = GaussianProcess(ExpSquared(scale=lengthscale), X, diag=noise_variance)
        # without diag tinygp adds 1.5e-8 to the variances that it predicts
        at_points = known.condition(y, points, diag=0.0).gp
        return at_points.loc, at_points.variance

    class TinyGP(Refit):
        def fitted(self, X: Array, y: Array) -> tuple[Array, Array]:
            # what fills up lies so far away that its covariance with all else is exactly 0
            missing = max(16, 1 << (len(X) - 1).bit_length()) - len(X)
            far = np.repeat(1e6 * np.arange(1, missing + 1)[:, None], X.shape[1], axis=1)
            filled = np.vstack([X, far])
            rewards = np.append(y, np.zeros(missing))
            given = jnp.asarray(filled), jnp.asarray(rewards), jnp.asarray(self.points)
            mean, variance = posterior(self.lengthscale, self.noise_variance, *given)
            return np.array(mean), np.array(variance)

    return TinyGP


class Bare:
    """GP-UCB in bare numpy: the same rule and order of ties, without checks; one row a pull."""

    def __init__(self, model: Model, horizon: int) -> None:
        self.kernel = model.kernel
        self.points = model.points
        self.noise = model.noise_variance
        self.V = np.empty((horizon, model.n_arms))
        self.mean = np.zeros(model.n_arms)
        self.variance = self.kernel.diag(model.points).copy()
        self.t = 0
        self.rng = np.random.default_rng(0)
        self.beta = model.n_arms * np.pi**2 / 0.6

    def ask(self) -> int:
        if self.t == 0:
            self.rank = self.rng.permutation(len(self.mean))
        width = np.sqrt(2 * np.log(self.beta * (self.t + 1) ** 2))
        index = self.mean + width * np.sqrt(np.maximum(self.variance, 0.0))
        tied = np.flatnonzero(index >= index.max() - 1e-10)
        return int(tied[self.rank[tied].argmin()])

    def tell(self, arm: int, observation: float) -> None:
        V = self.V[: self.t]
        covariance = self.kernel(self.points[arm : arm + 1], self.points)[0] - V[:, arm] @ V
        scale = np.sqrt(self.variance[arm] + self.noise)
        g = covariance / scale
        self.mean += g * ((observation - self.mean[arm]) / scale)
        self.variance -= g * g
        self.V[self.t] = g
        self.t += 1


#: How each form of the posterior is loaded, the reference first; None is the one that the package
#: chooses by itself.
FORMS: dict[str, Callable[[], type[ExactPosterior] | None]] = {
    OURS: lambda: None,
    f"{OURS}, rows": lambda: RowPosterior,
    f"{OURS}, covariance": lambda: CovariancePosterior,
    "scikit-learn": scikit_learn,
    "GPyTorch": gpytorch,
    "BoTorch": botorch,
    "tinygp": tinygp,
}


def on_line(n_arms: int) -> Problem:
    """Return the problem: a draw of the prior at so many arms on [0, 1]."""
    return GPDraw(SquaredExponential(0.2), grid(n_arms), noise_variance=0.025)(Trial(1, 0))


def rounds_of(make: Callable[[Model, int], Any], problem: Problem, horizon: int) -> Iterable[Any]:
    """Return the rounds of a policy."""
    return rounds(make(problem.model, horizon), problem, horizon, np.random.default_rng(2))


def measure(n_arms: int, horizons: Sequence[int], repeats: int) -> pd.DataFrame:
    """Return a row for every form and number of rounds."""
    problem = on_line(n_arms)

    def load(form: Callable[[], type[ExactPosterior] | None]) -> Play:
        return partial(rounds_of, partial(UCB, width=THEOREM_1, form=form()), problem)

    loads: dict[str, Callable[[], Play]] = {name: partial(load, FORMS[name]) for name in FORMS}
    loads["bare numpy"] = lambda: partial(rounds_of, Bare, problem)
    return compared(loads, horizons, repeats)


ASKS = (
    "How long do T rounds of GP-UCB take on 1000 arms if another library's model is fitted anew"
    " after each pull? `times`: as long as here, ratio of medians. Bare numpy, the same rule with"
    " one row a pull and without checks, is the near limit of rows. A job is stopped after"
    f" {STOP_AFTER:g} s."
)
FULL = {"n_arms": 1000, "horizons": (100, 200, 500, 1000), "repeats": 3}
TOY = {"n_arms": 30, "horizons": (4, 8), "repeats": 2}
