"""GP-UCB with this package, in bare numpy, and on a model of another library that is fitted anew
after each pull.

1000 arms on [0, 1], squared exponential kernel of lengthscale 0.2, noise variance 0.025, the width
of Theorem 1 of Srinivas et al. All of them are exact, so all must pull the same arms.
Hyperparameters are given, nothing is optimised.

A player takes in a problem and the number of rounds, and yields the arm of every round. What fits
takes in a model, arms and what each of their pulls gave, and returns mean and variance of all arms,
(A,).
"""

from functools import cache, partial

import numpy as np
import pandas as pd

import kbrepro as kb
from benchmarks.harness import Job, Question
from kbrepro.bandits.posterior import CovariancePosterior, RowPosterior

LENGTHSCALE = 0.2
STOP_AFTER = 120.0
OURS = "kbrepro"


@cache
def on_line() -> kb.Problem:
    """Return the problem: a draw of the prior."""
    kernel = kb.SquaredExponential(LENGTHSCALE)
    return kb.GPDraw(kernel, kb.grid(1000), noise_variance=0.025)(kb.Trial(1, 0))


def play(policy, problem, rounds):
    """Yield the arm of every round of a policy."""
    rng = np.random.default_rng(2)
    for _ in range(rounds):
        arm = policy.ask()
        policy.tell(arm, problem.pull(arm, rng))
        yield arm


def ucb(problem, rounds, **settings):
    """Play our GP-UCB."""
    settings = {"width": kb.Srinivas2010(delta=0.1)} | settings
    return play(kb.UCB(problem.model, rounds, **settings), problem, rounds)


def plain(fit, problem, rounds):
    """Play GP-UCB on what is fitted to the pulls, without checks. The order of ties is ours."""
    n_arms = problem.model.n_arms
    rank = np.random.default_rng(0).permutation(n_arms)
    rng = np.random.default_rng(2)
    arms = []
    rewards = []
    mean = np.zeros(n_arms)
    variance = np.ones(n_arms)
    for t in range(1, rounds + 1):
        width = np.sqrt(2 * np.log(n_arms * (np.pi * t) ** 2 / 0.6))
        index = mean + width * np.sqrt(np.maximum(variance, 0.0))
        tied = np.flatnonzero(index >= index.max() - 1e-10)
        arms.append(int(tied[rank[tied].argmin()]))
        rewards.append(problem.pull(arms[-1], rng))
        mean, variance = fit(problem.model, arms, rewards)
        yield arms[-1]


def bare(problem, rounds):
    """Play GP-UCB in bare numpy, with one row a pull."""
    V = np.empty((rounds, problem.model.n_arms))
    mean = np.zeros(problem.model.n_arms)
    variance = np.ones(problem.model.n_arms)

    def update(model, arms, rewards):
        t = len(arms) - 1
        arm = arms[t]
        covariance = model.kernel(model.points[[arm]], model.points)[0] - V[:t, arm] @ V[:t]
        scale = np.sqrt(variance[arm] + model.noise_variance)
        V[t] = covariance / scale
        mean[:] += V[t] * ((rewards[t] - mean[arm]) / scale)
        variance[:] -= V[t] ** 2
        return mean, variance

    return plain(update, problem, rounds)


def scikit_learn(model, arms, rewards):
    """Fit scikit-learn's regressor."""
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF

    fitted = GaussianProcessRegressor(RBF(LENGTHSCALE), alpha=model.noise_variance, optimizer=None)
    fitted.fit(model.points[arms], rewards)
    mean, sd = fitted.predict(model.points, return_std=True)
    return mean, sd**2


def torch_fit(library, model, arms, rewards):
    """Fit GPyTorch's exact model or BoTorch's SingleTaskGP of known noise, by Cholesky factors in
    double precision, on one thread.
    """
    import torch
    from gpytorch.kernels import RBFKernel
    from gpytorch.settings import fast_computations, max_cholesky_size

    torch.set_num_threads(1)
    kernel = RBFKernel().double()
    kernel.lengthscale = LENGTHSCALE
    X = torch.tensor(model.points[arms])
    y = torch.tensor(np.array(rewards))
    fitted = library(X, y, kernel, model.noise_variance)
    with torch.no_grad(), fast_computations(False, False, False), max_cholesky_size(10_000):
        posterior = fitted(torch.tensor(model.points))
        return posterior.mean.numpy().ravel(), posterior.variance.numpy().ravel()


def gpytorch(X, y, kernel, noise_variance):
    from gpytorch.distributions import MultivariateNormal
    from gpytorch.likelihoods import GaussianLikelihood
    from gpytorch.models import ExactGP

    likelihood = GaussianLikelihood()
    likelihood.noise = noise_variance
    fitted = ExactGP(X, y, likelihood).double().eval()
    fitted.forward = lambda at: MultivariateNormal(at[:, 0] * 0.0, kernel(at))
    return fitted


def botorch(X, y, kernel, noise_variance):
    from botorch.models import SingleTaskGP
    from gpytorch.means import ZeroMean

    y = y[:, None]
    parts = {"covar_module": kernel, "mean_module": ZeroMean(), "outcome_transform": None}
    return SingleTaskGP(X, y, y * 0.0 + noise_variance, **parts).posterior


def tinygp(model, arms, rewards):
    """Fit tinygp's GaussianProcess, compiled once for each power of two of pulls."""
    # what fills up lies so far away that its covariance with all else is exactly 0
    missing = max(16, 1 << (len(arms) - 1).bit_length()) - len(arms)
    far = 1e6 * np.arange(1, missing + 1)[:, None]
    X = np.vstack([model.points[arms], far])
    y = np.append(rewards, np.zeros(missing))
    return map(np.array, compiled()(model.noise_variance, X, y, model.points))


@cache
def compiled():
    """Return what tinygp's posterior is compiled to."""
    import jax
    from tinygp import GaussianProcess
    from tinygp.kernels import ExpSquared

    jax.config.update("jax_enable_x64", True)

    def posterior(noise_variance, X, y, points):
        fitted = GaussianProcess(ExpSquared(scale=LENGTHSCALE), X, diag=noise_variance)
        # without diag tinygp adds 1.5e-8 to the variances that it predicts
        at_points = fitted.condition(y, points, diag=0.0).gp
        return at_points.loc, at_points.variance

    return jax.jit(posterior)


PLAYERS = {
    OURS: ucb,
    f"{OURS}, rows": partial(ucb, form=RowPosterior),
    f"{OURS}, covariance": partial(ucb, form=CovariancePosterior),
    "scikit-learn": partial(plain, scikit_learn),
    "GPyTorch": partial(plain, partial(torch_fit, gpytorch)),
    "BoTorch": partial(plain, partial(torch_fit, botorch)),
    "tinygp": partial(plain, tinygp),
    "bare numpy": bare,
}


def job(name: str) -> Job:
    """Return the job of a player, by numbers of rounds."""
    player = PLAYERS[name]
    sizes = (100, 200, 500, 1000)
    return Job(name, lambda n: player(on_line(), n), sizes, stop_after=STOP_AFTER)


def compared(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table with what a job takes and does compared with the first one."""
    table = table.rename(columns={"size": "rounds"})
    ours = table[table["job"] == OURS].set_index("rounds")
    table["times"] = table["median_s"] / table["rounds"].map(ours["median_s"])
    same = table["items"] == table["rounds"].map(ours["items"])
    table["same_arms"] = same.where(table["repeats"] > 0)
    return table


PEERS = Question(
    "How long do T rounds of GP-UCB take on 1000 arms if another library's model is fitted anew"
    " after each pull? Bare numpy, the same rule with one row a pull and without checks, is the"
    " near limit of rows. `times`: as long as here, ratio of medians. A job is stopped after"
    f" {STOP_AFTER:g} s.",
    list(map(job, PLAYERS)),
    compared,
)
