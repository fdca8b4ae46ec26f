"""The moment on which a live scene opens: a problem played by kbrepro, in numbers from which the script plays on."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from kbrepro.kernels import Kernel, Matern, SquaredExponential, grid
from kbrepro.policies import UCB
from kbrepro.policies.base import Policy, best_arm
from kbrepro.problems import GPDraw, Model, Trial, covariance_factor

#: Kernels of a lengthscale by the names of posterior.js; delta of all widths, arms on [0, 1], rounds.
KERNELS: dict[str, Callable[[float], Kernel]] = {
    "SE": SquaredExponential,
    "Matérn 3/2": partial(Matern, nu=1.5),
    "Matérn 5/2": partial(Matern, nu=2.5),
}
DELTA, N_ARMS, HORIZON = 0.1, 200, 100
#: What lines mean: colour, name, dashes as in SVG. `F` is that of f in every scene.
F = ["#222", "f, unknown", "5 4"]
KEY = [F, ["#555", "posterior mean and band"]]
NOTE = "Dots: what was observed, the last one open. Triangle: the next arm; click in a panel to pull another."
#: What is explained only where it is drawn: where a band misses f, and the dotted line and strip of EI and PI.
MISSED = ["#b050e8", "where the band misses f"]
STRIP = (
    "EI and PI: dotted what they ask to exceed, shaded the log of EI or the z-score of PI, cut below its top; larger "
    "is better."
)
ABOUT = (
    "SE: squared exponential. GP-UCB has the width of 2010 for f drawn from the assumed kernel; the widths of IGP-UCB "
    "(2017) and its tighter form (2024) are given the gain of the pulls and a bound on the norm of f under the true "
    "kernel. For the noise variance used here that of 2017 is not proved."
)
Numbers = dict[str, Any]
Policies = Mapping[str, Callable[..., Policy]]


def truth(kernel: str, lengthscale: float, noise_sd: float, trial: Trial) -> Numbers:
    """Return the truth of a trial of `GPDraw`: f (A,), a bound on its norm, standard noise (T,), ranks for ties.

    f = F z with F F^T = K, so the norm of f is at most that of z.
    """
    points, of = grid(N_ARMS), KERNELS[kernel](lengthscale)
    problem = GPDraw(of, points, noise_sd**2)(trial)
    n_features = covariance_factor(of(points, points)).shape[1]
    noise, ties = trial.rng("run").spawn(2)  # as `rounds` draws them
    return {
        "kernel": kernel,
        "lengthscale": lengthscale,
        "noiseSd": noise_sd,
        "f": np.round(problem.expected_reward, 10).tolist(),
        "norm": float(np.linalg.norm(trial.rng("function").standard_normal(N_ARMS)[:n_features])),
        "noise": np.round(noise.standard_normal(HORIZON), 10).tolist(),
        "rank": ties.permutation(N_ARMS).tolist(),
    }


def played(true: Numbers, players: Iterable[Mapping[str, Any]], policies: Policies) -> list[list[Numbers]]:
    """Return what each player saw and did in every round, computed by kbrepro: what posterior.js's `play` returns.

    A player has the `name` of a policy and a `margin`; all are given the true kernel, lengthscale and noise.
    """
    makes = [partial(policies[p["name"]], **{"margin": p["margin"]} if p["margin"] else {}) for p in players]
    return [list(_rounds(true, make)) for make in makes]


def _rounds(true: Numbers, make: Callable[..., Policy]) -> Iterable[Numbers]:
    f, points = np.array(true["f"]), grid(len(true["f"]))
    model = Model(points, KERNELS[true["kernel"]](true["lengthscale"]), true["noiseSd"] ** 2, norm=true["norm"])
    policy = make(model, len(true["noise"]))
    regret = 0.0
    for t, noise in enumerate(true["noise"], start=1):
        its = policy.posterior
        seen: Numbers = {"t": t, "mean": its.mean.copy(), "sd": its.sd, "index": policy.index().copy()}
        if isinstance(policy, UCB):
            seen |= {"width": policy.width(policy), "holds": policy.band_ratio(f) <= 1}
        arm = best_arm(seen["index"], np.array(true["rank"]))
        y, regret = f[arm] + true["noiseSd"] * noise, regret + f.max() - f[arm]
        policy.tell(arm, y)
        yield seen | {"arm": arm, "y": y, "regret": regret}


def moment(name: str, true: Numbers, players: Sequence[Mapping[str, Any]], t: int) -> Numbers:
    """Return a moment of a live scene: the truth, two players who are given the same, and the round shown."""
    given = {key: true[key] for key in ("kernel", "lengthscale", "noiseSd")}
    return {"name": name, "truth": true, "given": given, "players": list(players), "t": t}


def of(its: Sequence[Numbers]) -> Numbers:
    """Return what a live scene needs besides its title and what it says."""
    words = {"key": KEY, "missed": MISSED, "note": NOTE, "strip": STRIP, "about": ABOUT}
    return {"horizon": HORIZON, "delta": DELTA, "moments": list(its), **words}
