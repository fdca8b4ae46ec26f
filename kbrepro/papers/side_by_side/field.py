"""The field: every policy that plays side by side, with the kind of its proof, and what it needs to be defined."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from kbrepro.confidence import AbbasiYadkori2011, Chowdhury2017, Flynn2024, Srinivas2010
from kbrepro.papers.bkb.policy import BKB
from kbrepro.papers.bkb.since import MiniUCB
from kbrepro.papers.gp_ucb.since import GPEIMS, IRGPUCB
from kbrepro.papers.pi_gp_ucb.partition import PartitionedUCB
from kbrepro.papers.pi_gp_ucb.since import growing_variance
from kbrepro.papers.side_by_side.directed import DirectedSampling
from kbrepro.papers.side_by_side.elimination import BPE, SupKernelUCB, doubled_lengths
from kbrepro.papers.side_by_side.plain import EpsilonGreedy, UniformPlay
from kbrepro.papers.side_by_side.widths import FixedDesign, FixedDesignTighter, Scaled, ScaledTighter
from kbrepro.policies import (
    PIMS,
    UCB,
    ExpectedImprovement,
    MeanOnly,
    ProbabilityOfImprovement,
    ThompsonSampling,
    VarianceOnly,
)
from kbrepro.problems import Model

#: What is proved of the regret, the strongest first.
PROOFS = ("near-optimal", "sublinear", "Bayesian", "no proof")
#: What beta, the square of a width, is divided by to find the one tuned scale of a rule.
DIVISORS = (1, 2, 5, 10, 20, 50, 100)
TUNED = ", tuned"

Make = Callable[[Any, int], Any]


@dataclass(frozen=True)
class Entry:
    """One policy: how it is made, and which kind of proof it has.

    `matern`, `grid`: whether it is defined on these alone; `unit`: whether its width is proved for lambda >= 1 alone;
    `gap`: why the proof does not cover the rule as it is played.
    """

    make: Make
    proof: str
    matern: bool = False
    grid: bool = False
    unit: bool = False
    gap: str = ""


def with_grown_variance(make: Make, nu: float, model: Model, horizon: int) -> Any:
    """Return a policy whose lambda is T^(d / (2 nu + 2 d)) times that of the model (Whitehouse et al. 2023).

    The theorem leaves the constant open: the model's lambda makes the rule the same in any unit of reward, and is 1 on
    the functions of Janz et al.
    """
    grown = growing_variance(horizon, model.points.shape[1], nu) * model.noise_variance
    return make(replace(model, noise_variance=grown), horizon)


def field(
    delta: float, *, nu: float = 1.5, prior_sd: float = 1.0, unit: float = 1.0, qbar: float = 4.0
) -> dict[str, Entry]:
    """Return every policy by name, with the constants of its source.

    `nu` is that of the Matérn kernel (rules that ask for one); the margin of MPI is a tenth of `prior_sd`; `unit` is
    what a reward is worth for SupKernelUCB; `qbar` BKB's constant.
    """
    unproved: dict[str, Make] = {
        "GP-UCB/5": partial(UCB, width=Srinivas2010(delta, beta_scale=0.2)),
        "EI": ExpectedImprovement,
        "EI, noisy incumbent": partial(ExpectedImprovement, incumbent="noisy_reward"),
        "MPI": partial(ProbabilityOfImprovement, margin=0.1 * prior_sd),
        "mean only": MeanOnly,
        "variance only": VarianceOnly,
        "epsilon-greedy": EpsilonGreedy,
        "uniform play": UniformPlay,
    }
    bayesian: dict[str, Make] = {
        "GP-UCB": partial(UCB, width=Srinivas2010(delta)),
        "IRGP-UCB": IRGPUCB,
        "PIMS": PIMS,
        "GP-EIMS": GPEIMS,
    }
    entries = _near_optimal(delta, unit) | _on_matern(delta, nu) | _sublinear(delta, qbar)
    entries |= {name: Entry(make, "Bayesian") for name, make in bayesian.items()}
    return entries | {name: Entry(make, "no proof") for name, make in unproved.items()}


def _near_optimal(delta: float, unit: float) -> dict[str, Entry]:
    wide, tighter = FixedDesign(delta), FixedDesignTighter(delta)
    return {
        "SupKernelUCB": Entry(partial(SupKernelUCB, width=wide, unit=unit), "near-optimal"),
        "BPE": Entry(partial(BPE, width=wide), "near-optimal"),
        "BPE, tighter": Entry(partial(BPE, width=tighter), "near-optimal"),
        "BPE, doubling": Entry(partial(BPE, width=tighter, lengths=doubled_lengths), "near-optimal"),
    }


def _on_matern(delta: float, nu: float) -> dict[str, Entry]:
    cells, kind = partial(PartitionedUCB, delta=delta, nu=nu), "sublinear"
    proved = partial(cells, width=Flynn2024, union="horizon")
    grown = [
        partial(with_grown_variance, partial(UCB, width=w), nu) for w in (AbbasiYadkori2011(delta), Flynn2024(delta))
    ]
    return {
        "π-GP-UCB": Entry(cells, kind, matern=True, grid=True, gap="its union over cells is not proved as printed"),
        "π-GP-UCB, tighter": Entry(proved, kind, matern=True, grid=True),
        "IGP-UCB, lambda grows": Entry(grown[0], kind, matern=True),
        "IGP-UCB, both": Entry(grown[1], kind, matern=True),
    }


def _sublinear(delta: float, qbar: float) -> dict[str, Entry]:
    kind, radius = "sublinear", "its radius is that of the exact posterior, not Theorem 2's"
    pulls, tighter = AbbasiYadkori2011(delta), Flynn2024(delta)
    return {
        "IGP-UCB": Entry(partial(UCB, width=Chowdhury2017(delta)), kind, unit=True),
        "IGP-UCB, gain of the pulls": Entry(partial(UCB, width=pulls), kind),
        "IGP-UCB, tighter": Entry(partial(UCB, width=tighter), kind),
        "GP-TS": Entry(partial(ThompsonSampling, width=Chowdhury2017(delta / 2)), kind, unit=True),
        "IDS": Entry(partial(DirectedSampling, width=tighter), kind),
        "BKB": Entry(partial(BKB, width=pulls, qbar=qbar), kind, gap=radius),
        "mini-GP-UCB": Entry(partial(MiniUCB, width=pulls, squared_c=2.0), kind),
    }


#: Rules whose width gets one tuned scale.
WITH_A_SCALE: tuple[str, ...] = ("SupKernelUCB", "BPE, tighter", "BPE, doubling", "π-GP-UCB, tighter")
WITH_A_SCALE += ("IGP-UCB, both", "IGP-UCB, tighter", "GP-TS", "IDS", "BKB", "mini-GP-UCB", "GP-UCB")


def tuned(entries: Mapping[str, Entry], divisors: Mapping[str, float]) -> dict[str, Entry]:
    """Return the rules WITH_A_SCALE among `entries`, each with its beta divided by its divisor; nothing is proved."""
    return {
        name + TUNED: replace(entries[name], make=scaled(entries[name].make, divisors[name]), proof="no proof")
        for name in WITH_A_SCALE
        if name in entries
    }


def scaled(make: Any, divisor: float) -> Make:
    """Return a rule WITH_A_SCALE with its beta divided, that is, its width divided by the root of `divisor`."""
    if make.func is with_grown_variance:
        inner, *given = make.args
        return partial(with_grown_variance, scaled(inner, divisor), *given)
    scale, width = 1 / math.sqrt(divisor), make.keywords["width"]
    if isinstance(width, FixedDesign):
        return partial(make, width=replace(width, scale=scale))
    if width is Flynn2024:  # of cells: made anew for each share of delta
        return partial(make, width=partial(ScaledTighter, scale=scale))
    return partial(make, width=Scaled(width, scale))
