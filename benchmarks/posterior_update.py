"""How long GP-UCB takes with each form of the posterior, as ratios to refitting with scikit-learn, in one run.

Job: T rounds on 1000 arms, squared exponential kernel, lengthscale 0.2, noise variance 0.025, Theorem 1's width. All
must pull the same arms.
"""

from __future__ import annotations

import click
import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF
from threadpoolctl import threadpool_limits

from kbrepro.confidence import Bayes
from kbrepro.kernels import SquaredExponential, grid
from kbrepro.policies import UCB
from kbrepro.posterior import CovariancePosterior, Posterior, RowPosterior
from kbrepro.problems import GPDraw, Trial
from kbrepro.simulation import run

PROBLEM = GPDraw(SquaredExponential(0.2), grid(1000), noise_variance=0.025)(Trial(1, 0))


class RefitPosterior(Posterior):
    """The same interface on a scikit-learn regressor fitted anew after each pull."""

    def __init__(self, kernel, points, noise_variance):
        super().__init__(kernel, points, noise_variance)
        self._points, self._pulled, self._observations = points, [], []
        self._model = GaussianProcessRegressor(RBF(kernel.lengthscale), alpha=noise_variance, optimizer=None)

    def update(self, arm, observation):
        self._pulled.append(arm)
        self._observations.append(observation)
        self._model.fit(self._points[self._pulled], self._observations)
        self.mean, sd = self._model.predict(self._points, return_std=True)
        self._variance = sd**2


def timed(form: type[Posterior], horizon: int) -> tuple[float, np.ndarray]:
    """Return the seconds of one run and the arms pulled (horizon,)."""
    told = PROBLEM.told
    policy = UCB(told, horizon, width=Bayes(delta=0.1))
    policy.posterior = form(told.kernel, told.points, told.noise_variance)
    trace = run(policy, PROBLEM, horizon, np.random.default_rng(2))
    return float(trace.seconds.sum()), trace.arms


@click.command()
@click.option("--horizon", default=200, show_default=True, help="rounds")
@click.option("--repeats", default=3, show_default=True, help="runs of each form; the median counts")
def main(horizon: int, repeats: int) -> None:
    """Print seconds and ratios of the posterior's forms against a refit."""
    forms = {"refit with scikit-learn": RefitPosterior, "rows": RowPosterior, "covariance": CovariancePosterior}
    with threadpool_limits(1, user_api="blas"):
        runs = {name: [timed(form, horizon) for _ in range(repeats)] for name, form in forms.items()}
    seconds = {name: float(np.median([s for s, _ in results])) for name, results in runs.items()}
    reference = runs["refit with scikit-learn"][0][1]
    for name, results in runs.items():
        same = all(np.array_equal(arms, reference) for _, arms in results)
        ratio = seconds["refit with scikit-learn"] / seconds[name]
        click.echo(f"{name:25s} {seconds[name]:8.3f} s   {ratio:6.1f} times as fast   same arms: {same}")


if __name__ == "__main__":
    main()
