"""The field: every policy that plays side by side, with the kind of its proof, and what it needs to be defined."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from kbrepro.confidence import Bayes, Improved, SelfNormalised, Tighter
from kbrepro.papers.bkb.policy import BKB
from kbrepro.papers.bkb.since import MiniUCB
from kbrepro.papers.gp_ucb.since import GPEIMS, IRGPUCB, PIMS
from kbrepro.papers.pi_gp_ucb.partition import PartitionedUCB
from kbrepro.papers.pi_gp_ucb.since import growing_variance
from kbrepro.papers.side_by_side.directed import DirectedSampling
from kbrepro.papers.side_by_side.elimination import BPE, SupKernelUCB, doubled_lengths
from kbrepro.papers.side_by_side.plain import EpsilonGreedy, UniformPlay
from kbrepro.papers.side_by_side.widths import FixedDesign, FixedDesignTighter, Scaled, ScaledTighter
from kbrepro.policies import (
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
#: What is done to beta, the square of a width, to find the one tuned scale of a rule.
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
    near = {
        "SupKernelUCB": partial(SupKernelUCB, width=FixedDesign(delta), unit=unit),
        "BPE": partial(BPE, width=FixedDesign(delta)),
        "BPE, tighter": partial(BPE, width=FixedDesignTighter(delta)),
        "BPE, doubling": partial(BPE, width=FixedDesignTighter(delta), lengths=doubled_lengths),
    }
    cells = partial(PartitionedUCB, delta=delta, nu=nu)
    on_grid = {"π-GP-UCB": cells, "π-GP-UCB, tighter": partial(cells, width=Tighter, union="horizon")}
    grown = {"IGP-UCB, lambda grows": SelfNormalised(delta), "IGP-UCB, both": Tighter(delta)}
    sublinear = {
        "IGP-UCB": partial(UCB, width=Improved(delta)),
        "IGP-UCB, gain of the pulls": partial(UCB, width=SelfNormalised(delta)),
        "IGP-UCB, tighter": partial(UCB, width=Tighter(delta)),
        "GP-TS": partial(ThompsonSampling, width=Improved(delta / 2)),
        "IDS": partial(DirectedSampling, width=Tighter(delta)),
        "BKB": partial(BKB, width=SelfNormalised(delta), qbar=qbar),
        "mini-GP-UCB": partial(MiniUCB, width=SelfNormalised(delta), squared_c=2.0),
    }
    bayesian = {"GP-UCB": partial(UCB, width=Bayes(delta)), "IRGP-UCB": IRGPUCB, "PIMS": PIMS, "GP-EIMS": GPEIMS}
    none = {
        "GP-UCB/5": partial(UCB, width=Bayes(delta, divide_beta_by=5)),
        "EI": ExpectedImprovement,
        "EI, noisy incumbent": partial(ExpectedImprovement, incumbent="noisy_reward"),
        "MPI": partial(ProbabilityOfImprovement, margin=0.1 * prior_sd),
        "mean only": MeanOnly,
        "variance only": VarianceOnly,
        "epsilon-greedy": EpsilonGreedy,
        "uniform play": UniformPlay,
    }
    found = {name: Entry(make, "near-optimal") for name, make in near.items()}
    found |= {name: Entry(make, "sublinear", matern=True, grid=True) for name, make in on_grid.items()}
    found["π-GP-UCB"] = replace(found["π-GP-UCB"], gap="its union over cells is not proved as printed")
    found |= {
        name: Entry(partial(with_grown_variance, partial(UCB, width=width), nu), "sublinear", matern=True)
        for name, width in grown.items()
    }
    for proof, its in (("sublinear", sublinear), ("Bayesian", bayesian), ("no proof", none)):
        found |= {name: Entry(make, proof) for name, make in its.items()}
    found["BKB"] = replace(found["BKB"], gap="its radius is that of the exact posterior, not Theorem 2's")
    return found | {name: replace(found[name], unit=True) for name in ("IGP-UCB", "GP-TS")}


#: Rules whose width gets one tuned scale.
WITH_A_SCALE = (
    "SupKernelUCB",
    "BPE, tighter",
    "BPE, doubling",
    "π-GP-UCB, tighter",
    "IGP-UCB, both",
    "IGP-UCB, tighter",
    "GP-TS",
    "IDS",
    "BKB",
    "mini-GP-UCB",
    "GP-UCB",
)


def tuned(entries: Mapping[str, Entry], divisors: Mapping[str, float], delta: float, nu: float) -> dict[str, Entry]:
    """Return the rules WITH_A_SCALE among `entries`, each with its beta divided by its divisor; nothing is proved."""
    return {
        name + TUNED: replace(
            entries[name], make=scaled(name, entries[name].make, divisors[name], delta, nu), proof="no proof"
        )
        for name in WITH_A_SCALE
        if name in entries
    }


def scaled(name: str, make: Any, divisor: float, delta: float, nu: float) -> Make:
    """Return a rule WITH_A_SCALE with its beta divided, that is, its width divided by the root of `divisor`."""
    scale = 1 / math.sqrt(divisor)
    if name == "IGP-UCB, both":
        return partial(with_grown_variance, partial(UCB, width=Scaled(Tighter(delta), scale)), nu)
    width = make.keywords["width"]
    if isinstance(width, FixedDesign):
        return partial(make, width=replace(width, scale=scale))
    if width is Tighter:  # of cells: made anew for each share of delta
        return partial(make, width=partial(ScaledTighter, scale=scale))
    return partial(make, width=Scaled(width, scale))
