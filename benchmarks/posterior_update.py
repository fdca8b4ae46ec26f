"""How long GP-UCB takes with each form of the posterior, as ratios to refitting with scikit-learn, in one run.

Job: T rounds on 1000 arms, squared exponential kernel, lengthscale 0.2, noise variance 0.025, Theorem 1's width. All
must pull the same arms.
"""

from __future__ import annotations

import time
from functools import partial

import click
import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF
from threadpoolctl import threadpool_limits

from kbrepro.confidence import finite_arms
from kbrepro.kernels import SquaredExponential, grid
from kbrepro.policies import UCB
from kbrepro.posterior import CovariancePosterior, RowPosterior
from kbrepro.problems import gp_draw
from kbrepro.simulation import run

NOISE_VARIANCE = 0.025
KERNEL = SquaredExponential(0.2)


class RefitPosterior(RowPosterior):
    """The same interface on a scikit-learn regressor fitted anew after each pull."""

    def __init__(self, kernel, arms, noise_variance):
        super().__init__(kernel, arms, noise_variance)
        self._pulled, self._observations = [], []

    def update(self, arm, observation):
        self._pulled.append(arm)
        self._observations.append(observation)
        model = GaussianProcessRegressor(RBF(KERNEL.lengthscale), alpha=self.noise_variance, optimizer=None)
        model.fit(self._arms[self._pulled], self._observations)
        self.mean, sd = model.predict(self._arms, return_std=True)
        self._variance = sd**2


def timed(form, problem, horizon: int) -> tuple[float, np.ndarray]:
    """Return the seconds of one run and the arms pulled."""
    policy = UCB(form(KERNEL, problem.arms, NOISE_VARIANCE), partial(finite_arms, n_arms=len(problem.arms), delta=0.1))
    start = time.perf_counter()
    arms = run(policy, problem, horizon, np.random.default_rng(2)).arms
    return time.perf_counter() - start, arms


@click.command()
@click.option("--horizon", default=200, show_default=True, help="rounds")
@click.option("--repeats", default=3, show_default=True, help="runs of each form; the median counts")
def main(horizon: int, repeats: int) -> None:
    """Print seconds and ratios of the posterior's forms against a refit."""
    problem = gp_draw(np.random.default_rng(1), 0, KERNEL, grid(1000), NOISE_VARIANCE)
    forms = {"refit with scikit-learn": RefitPosterior, "rows": RowPosterior, "covariance": CovariancePosterior}
    with threadpool_limits(1, user_api="blas"):
        runs = {name: [timed(form, problem, horizon) for _ in range(repeats)] for name, form in forms.items()}
    seconds = {name: float(np.median([s for s, _ in results])) for name, results in runs.items()}
    reference = runs["refit with scikit-learn"][0][1]
    for name, results in runs.items():
        same = all(np.array_equal(arms, reference) for _, arms in results)
        ratio = seconds["refit with scikit-learn"] / seconds[name]
        click.echo(f"{name:25s} {seconds[name]:8.3f} s   {ratio:6.1f} times as fast   same arms: {same}")


if __name__ == "__main__":
    main()
