"""Problems whose policies are given the RKHS norm of the expected reward, another in each trial.

The noise variance R^2 is 1 % of the range of the function (Chowdhury & Gopalan, Section 6), and
unless an `OtherModel` source says otherwise it is also that of the policies' posterior.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.random import Generator
from scipy.linalg import eigh, solve

from kbrepro import checks
from kbrepro.bandits.problems import Model, Problem, Rows, Trial, covariance_factor, prior_draws
from kbrepro.papers import Source
from kbrepro.typing import Array, Kernel

_HARTMANN_WEIGHTS = np.array([1.0, 1.2, 3.0, 3.2])
_HARTMANN_SCALES = np.array(
    [[3.0, 10.0, 30.0], [0.1, 10.0, 35.0], [3.0, 10.0, 30.0], [0.1, 10.0, 35.0]]
)
_HARTMANN_CENTRES = np.array(
    [
        [0.3689, 0.1170, 0.2673],
        [0.4699, 0.4387, 0.7470],
        [0.1091, 0.8732, 0.5547],
        [0.03815, 0.5743, 0.8828],
    ]
)


def rosenbrock(X: Array) -> Array:
    """Return 10 - 100 (y - x^2)^2 - (1 - x)^2; largest at (1, 1), where it is 10.

    X is (n, 2). As far as known the form of Azimi et al. (2012), to whom Chowdhury & Gopalan refer.
    """
    x, y = X.T
    return 10 - 100 * (y - x**2) ** 2 - (1 - x) ** 2


def hartmann3(X: Array) -> Array:
    """Return Hartmann's function of X (n, 3); largest, 3.8628, at (0.115, 0.556, 0.853)."""
    distance = (_HARTMANN_SCALES * (X[:, None, :] - _HARTMANN_CENTRES) ** 2).sum(axis=-1)
    return np.exp(-distance) @ _HARTMANN_WEIGHTS


#: R^2, and the ridge that smooths a draw, as a share of the range.
SHARE_OF_RANGE = 0.01
#: R^2 of sensors, as a share of their mean variance.
SHARE_OF_VARIANCE = 0.05
#: Ridge with which the norm of a function outside the model is measured.
JITTER = 1e-6
#: Eigenvalues below this share of the largest are left out of the norm of that kind.
CUT_OFFS = {"cut-off 1e-3": 1e-3, "cut-off 1e-10": 1e-10}

NORMS = ("smoothed", *CUT_OFFS, "printed", "one")


def rkhs_norm(f: Array, K: Array, kind: str, ridge: float = JITTER) -> float:
    """Return what policies are given as RKHS norm of f (A,) under the kernel matrix K (A, A).

    - `smoothed`: sqrt(a^T K a), a = (K + ridge I)^-1 f: the norm of f smoothed once, not a bound on
      that of f.
    - `cut-off 1e-3`, `cut-off 1e-10`: sqrt(f^T K^-1 f) in the eigenvectors whose eigenvalue is at
      least that share of the largest.
    - `printed`: sqrt(f^T K f), as Chowdhury & Gopalan print it, which is no RKHS norm.
    - `one`: 1.

    Raises ValueError on another kind. With `kind` (and `ridge`) given by `functools.partial` it is
    what sources of problems take as `norm_of`.
    """
    checks.one_of(NORMS, kind=kind)
    if kind == "one":
        return 1.0
    if kind == "printed":
        return float(np.sqrt(f @ K @ f))
    if kind in CUT_OFFS:
        values, vectors = eigh(K)
        kept = values >= CUT_OFFS[kind] * values[-1]
        parts = vectors[:, kept].T @ f
        return float(np.sqrt((parts**2 / values[kept]).sum()))
    a = solve(K + ridge * np.eye(len(K)), f, assume_a="pos")
    return float(np.sqrt(a @ K @ a))


@dataclass(frozen=True, eq=False)
class OtherModel:
    """Source of the problems of another `source`, whose policies are given another model.

    Another kernel, another noise variance of the posterior (R stays), and the norm that `norm_of(f,
    K)` gives for the expected reward under the kernel that is given; None leaves each as it was.
    """

    source: Source
    kernel: Kernel | None = None
    noise_variance: float | None = None
    norm_of: Callable[[Array, Array], float] | None = None

    def __call__(self, trial: Trial) -> Problem:
        problem = self.source(trial)
        model = problem.model
        noise_variance = self.noise_variance or model.noise_variance
        new = replace(model, kernel=self.kernel or model.kernel, noise_variance=noise_variance)
        if self.norm_of:
            K = new.kernel(new.points, new.points)
            new = replace(new, norm=self.norm_of(problem.expected_reward, K))
        return replace(problem, model=new)


#: An expected reward (A,), and its norm where that is known.
Drawn = tuple[Array, float | None]


@dataclass(frozen=True)
class _AtRandomArms:
    """What the sources share: n_arms arms uniform on [0, 1]^d."""

    kernel: Kernel
    n_arms: int
    d: int = 1

    def reward(self, points: Array, K: Array, rng: Generator) -> Drawn:
        """Return the expected reward (A,) at points (A, d), and its norm where that is known."""
        raise NotImplementedError

    def __call__(self, trial: Trial) -> Problem:
        rng = trial.rng("function")
        points = rng.uniform(size=(self.n_arms, self.d))
        f, norm = self.reward(points, self.kernel(points, points), rng)
        noise_variance = SHARE_OF_RANGE * float(np.ptp(f))
        return Problem(Model(points, self.kernel, noise_variance, norm=norm), f)


@dataclass(frozen=True)
class PosteriorMean(_AtRandomArms):
    """Source of problems whose expected reward lies in the RKHS.

    y ~ N(0, K), a = (K + ridge I)^-1 y, f = K a, with its exact norm sqrt(a^T K a) (Chowdhury &
    Gopalan, Section 6, Fig. 1). `ridge` is by default 1 % of the range of y.
    """

    ridge: float | None = None

    def reward(self, points: Array, K: Array, rng: Generator) -> Drawn:
        y = prior_draws(self.kernel, points)(rng)
        ridge = SHARE_OF_RANGE * np.ptp(y) if self.ridge is None else self.ridge
        a = solve(K + ridge * np.eye(len(K)), y, assume_a="pos")
        f = K @ a
        return f, float(np.sqrt(a @ f))


class PriorDraw(_AtRandomArms):
    """Source of problems whose expected reward is a draw from the GP prior.

    f = F w with F F^T = K and w standard normal, so its norm in the RKHS of the arms is that of w
    (Chowdhury & Gopalan, Section 6, Fig. 2).
    """

    def reward(self, points: Array, K: Array, rng: Generator) -> Drawn:
        factor = covariance_factor(K)
        w = rng.standard_normal(len(K))[: factor.shape[1]]
        return factor @ w, float(np.linalg.norm(w))


@dataclass(frozen=True, kw_only=True)
class OnRandomArms(_AtRandomArms):
    """Source of problems with `function` (n, d) -> (n,), of which the kernel knows nothing
    (Chowdhury & Gopalan, Section 6, Fig. 3).

    No norm is given. With `standardise` the values at the arms get mean 0 and standard deviation 1.
    """

    function: Callable[[Array], Array]
    standardise: bool = False

    def reward(self, points: Array, K: Array, rng: Generator) -> Drawn:
        f = self.function(points)
        if self.standardise:
            f = (f - f.mean()) / f.std()
        return f, None


def sensor_rows(
    train: Array, test: Array, kind: str = "smoothed", *, standardised: bool = False
) -> Rows:
    """Return a source with a problem per row of `test` (n, A), learned from `train` (n_train, A).

    Chowdhury & Gopalan, Section 6, Fig. 4: the kernel matrix is the covariance of `train`, the
    reward a row less the means of `train`, R^2 = lambda is 5 % of the mean variance, the norm is of
    that `kind` (`rkhs_norm`; smoothed with ridge lambda). With `standardised` every sensor is
    divided by its standard deviation over `train`.
    """
    covariance = np.cov(train, rowvar=False)
    rewards = test - train.mean(axis=0)
    if standardised:
        sd = np.sqrt(covariance.diagonal())
        covariance = covariance / np.outer(sd, sd)
        rewards = rewards / sd
    noise_variance = SHARE_OF_VARIANCE * float(covariance.diagonal().mean())
    norm_of = partial(rkhs_norm, kind=kind, ridge=noise_variance)
    return Rows(covariance, rewards, noise_variance, norm_of)
