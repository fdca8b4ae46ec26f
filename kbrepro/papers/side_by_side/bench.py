"""The bench: the papers' problems of one layer, and what holds and is defined there."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from kbrepro.bandits.kernels import Matern, SquaredExponential, grid
from kbrepro.bandits.problems import Gaussian, GPDraw, Problem, RKHSFunction, Trial
from kbrepro.papers import Source
from kbrepro.papers.igp_ucb import problems as igp
from kbrepro.papers.pi_gp_ucb.problems import SURFACES, Bumps, Surface
from kbrepro.papers.side_by_side.field import BAYESIAN, NEAR_OPTIMAL, SUBLINEAR, Entry, field

#: A source whose policies are given a smoothed norm, which bounds nothing.
with_norm = partial(igp.OtherModel, norm_of=partial(igp.rkhs_norm, kind="smoothed"))

# What of the assumptions of theorems holds on a problem.
DRAWN = "drawn from the prior"
BOUNDED = "norm given"
NEITHER = "neither"


@dataclass(frozen=True)
class Setting:
    """One problem of the bench.

    `holds`: DRAWN, BOUNDED or NEITHER; `nu`: of its Matérn kernel, 0 of another one, and `grid`:
    whether rules that need these are defined; `unit`: the prior's standard deviation; `unit_noise`:
    whether lambda is at least 1; `measured`: the checksum of measured data; `seed`: of the notebook
    whose trials these are, 0 for our own; `without`: a rule that takes too long.
    """

    source: Source
    horizon: int
    holds: str
    nu: float = 0.0
    grid: bool = False
    unit: float = 1.0
    measured: str = ""
    seed: int = 0
    unit_noise: bool = False
    without: str = ""

    def rules(self, delta: float, qbar: float = 4.0) -> dict[str, Entry]:
        """Return the rules that are defined here, by name."""
        rules = {}
        for name, entry in field(delta, nu=self.nu, unit=self.unit, qbar=qbar).items():
            defined = (self.nu or not entry.matern) and (self.grid or not entry.grid)
            if defined and name != self.without:
                rules[name] = entry
        return rules

    def met(self, entry: Entry) -> bool:
        """Return whether what a rule's proof assumes holds here."""
        needed = {NEAR_OPTIMAL: BOUNDED, SUBLINEAR: BOUNDED, BAYESIAN: DRAWN}.get(entry.proof)
        return self.holds == needed and not entry.gap and (self.unit_noise or not entry.unit)


def synthetic(n_arms: int, horizon: int, seeds: Mapping[str, int], long: int) -> dict[str, Setting]:
    """Return the problems without measured data, by name.

    `n_arms`: arms of draws and of BKB's problem; `long`: the horizon of Table 1; `seeds`: "Table 1"
    and "BKB" -> root seed, so that trials and regrets are those of notebook 03, and of notebook 04
    in edition 0.3.0.
    """
    se = SquaredExponential(0.2)
    smooth = Matern(0.2, nu=2.5)
    rough = Matern(0.2, nu=1.5)
    draws = GPDraw(se, grid(n_arms), 0.025)
    rosenbrock = igp.OnRandomArms(se, 200, 2, function=igp.rosenbrock)
    hartmann = igp.OnRandomArms(se, 300, 3, function=igp.hartmann3)
    seed = seeds["BKB"]
    plane = np.random.default_rng([seed, n_arms, 2]).uniform(size=(n_arms, 2))
    of_norm_2 = RKHSFunction(se, plane, 0.01, norm=2.0)
    settings = {
        "SE draws": Setting(with_norm(draws), horizon, DRAWN),
        "Matérn draws": Setting(igp.PriorDraw(smooth, 100), horizon, DRAWN, nu=2.5),
        "SE, norm given": Setting(igp.PosteriorMean(se, 100), horizon, BOUNDED),
        "Matérn, norm given": Setting(igp.PosteriorMean(smooth, 100), horizon, BOUNDED, nu=2.5),
        "Rosenbrock": Setting(with_norm(rosenbrock), horizon, NEITHER),
        "Hartmann-3": Setting(with_norm(hartmann), horizon, NEITHER),
        "BKB's problem": Setting(of_norm_2, horizon * 3 // 2, BOUNDED, seed=seed),
    }
    table_1 = partial(
        Setting,
        horizon=long,
        holds=BOUNDED,
        nu=1.5,
        grid=True,
        unit_noise=True,
        seed=seeds["Table 1"],
    )
    in_d = partial(Bumps, rough, side=30, noise_variance=1.0, noise_bound=1.0, noise_scale=1.0)
    settings["Table 1, d = 1"] = table_1(in_d(d=1))
    settings["Table 1, d = 2"] = table_1(in_d(d=2), without="BKB")
    for name in list(SURFACES)[:4]:
        # 03's Fig. 2
        surface = Surface(name, rough, side=30, noise_variance=1.0, noise_bound=0.1, norm=1.0)
        title = name if name not in settings else f"{name}, 30 x 30"
        settings[title] = Setting(surface, horizon, NEITHER, nu=1.5, grid=True)
    return settings


# Wrong assumptions


@dataclass(frozen=True)
class Misled:
    """Source whose policies are given so many times the right lengthscale, noise (sd) or norm."""

    source: Source
    lengthscale: float = 1.0
    noise: float = 1.0
    norm: float = 1.0

    def __call__(self, trial: Trial) -> Problem:
        problem = self.source(trial)
        model = problem.model
        kernel: Any = model.kernel
        wrong = replace(
            model,
            kernel=replace(kernel, lengthscale=kernel.lengthscale * self.lengthscale),
            noise_variance=model.noise_variance * self.noise**2,
            noise_scale=model.noise_scale * self.noise,
            norm=model.norm and model.norm * self.norm,
        )
        return replace(problem, model=wrong, noise=problem.noise or Gaussian(model.noise_scale))
