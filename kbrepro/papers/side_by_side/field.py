"""The field: every rule that plays side by side, its kind of proof, and what it needs."""

from dataclasses import dataclass, replace
from functools import partial

from kbrepro.bandits.confidence import AbbasiYadkori2011, Chowdhury2017, Flynn2024, Srinivas2010
from kbrepro.bandits.policies import (
    PIMS,
    UCB,
    ExpectedImprovement,
    MeanOnly,
    ProbabilityOfImprovement,
    ThompsonSampling,
    VarianceOnly,
)
from kbrepro.bandits.policies.base import Seed, learns
from kbrepro.bandits.problems import Model
from kbrepro.papers import Make
from kbrepro.papers.bkb.policy import BKB
from kbrepro.papers.pi_gp_ucb.measures import growing_variance
from kbrepro.papers.pi_gp_ucb.partition import PartitionedUCB
from kbrepro.papers.side_by_side.elimination import BPE, SupKernelUCB
from kbrepro.papers.side_by_side.widths import FixedDesign, FixedDesignTighter
from kbrepro.typing import Player

NEAR_OPTIMAL = "near-optimal"
SUBLINEAR = "sublinear"
BAYESIAN = "Bayesian"
NO_PROOF = "no proof"
#: What is proved of the regret, the strongest first.
PROOFS = NEAR_OPTIMAL, SUBLINEAR, BAYESIAN, NO_PROOF
TUNED = ", tuned"


@dataclass(frozen=True)
class Entry:
    """One rule: how it is made, and which kind of proof it has.

    `matern`, `grid`: whether it is defined on these alone; `unit`: whether its width is proved for
    lambda >= 1 alone; `gap`: whether the proof does not cover the rule as it is played.
    """

    make: Make
    proof: str
    matern: bool = False
    grid: bool = False
    unit: bool = False
    gap: bool = False


class UniformPlay(MeanOnly):
    """An arm drawn uniformly in every round; nothing is learned."""

    def choose(self) -> int:
        """Return the arm to pull."""
        return self.any_arm()

    @learns("t")
    def learn(self, arm: int, observation: float, noise_variance: float | None = None) -> None:
        """Count the round."""
        self.t += 1


def with_grown_variance(
    make: Make, nu: float, model: Model, horizon: int, *, rng: Seed = 0
) -> Player:
    """Return a policy whose lambda is T^(d / (2 nu + 2 d)) times that of the model.

    Whitehouse et al. (2023); the theorem leaves the constant open: the model's lambda makes the
    rule the same in any unit of reward, and is 1 on the functions of Janz et al.
    """
    grown = growing_variance(horizon, model.points.shape[1], nu) * model.noise_variance
    return make(replace(model, noise_variance=grown), horizon, rng=rng, warn=False)


def field(
    delta: float, *, nu: float = 1.5, unit: float = 1.0, qbar: float = 4.0
) -> dict[str, Entry]:
    """Return every rule by name, with the constants of its source.

    `nu` is that of the Matérn kernel (rules that ask for one); `unit`, the prior's standard
    deviation, is what a reward is worth for SupKernelUCB, and ten times the margin of MPI; `qbar`
    BKB's constant. Tuned is beta divided by 100, of seven round numbers up to 100 the best on two
    problems that are not scored (edition 0.3.0).
    """
    wide = FixedDesign(delta)
    narrow = FixedDesignTighter(delta)
    tighter = partial(UCB, width=Flynn2024(delta))
    thompson = partial(ThompsonSampling, width=Chowdhury2017(delta / 2))
    cells = partial(PartitionedUCB, delta=delta, nu=nu)
    all_cells = partial(cells, width=Flynn2024, union="horizon")
    grown = partial(with_grown_variance, tighter, nu)
    tuned = partial(SupKernelUCB, width=replace(wide, scale=0.1), unit=unit)
    noisy = partial(ExpectedImprovement, incumbent="noisy_reward")
    fifth = Srinivas2010(delta, beta_scale=0.2)
    return {
        "SupKernelUCB": Entry(partial(SupKernelUCB, width=wide, unit=unit), NEAR_OPTIMAL),
        "BPE, tighter": Entry(partial(BPE, width=narrow), NEAR_OPTIMAL),
        # whose union over cells is not proved as printed
        "π-GP-UCB": Entry(cells, SUBLINEAR, matern=True, grid=True, gap=True),
        "π-GP-UCB, tighter": Entry(all_cells, SUBLINEAR, matern=True, grid=True),
        "IGP-UCB, both": Entry(grown, SUBLINEAR, matern=True),
        "IGP-UCB": Entry(partial(UCB, width=Chowdhury2017(delta)), SUBLINEAR, unit=True),
        "IGP-UCB, tighter": Entry(tighter, SUBLINEAR),
        "GP-TS": Entry(thompson, SUBLINEAR, unit=True),
        # with the radius of the exact posterior, not Theorem 2's
        "BKB": Entry(partial(BKB, width=AbbasiYadkori2011(delta), qbar=qbar), SUBLINEAR, gap=True),
        "GP-UCB": Entry(partial(UCB, width=Srinivas2010(delta)), BAYESIAN),
        "PIMS": Entry(PIMS, BAYESIAN),
        "GP-UCB/5": Entry(partial(UCB, width=fifth), NO_PROOF),
        "EI": Entry(ExpectedImprovement, NO_PROOF),
        "EI, noisy incumbent": Entry(noisy, NO_PROOF),
        "MPI": Entry(partial(ProbabilityOfImprovement, margin=0.1 * unit), NO_PROOF),
        "mean only": Entry(MeanOnly, NO_PROOF),
        "variance only": Entry(VarianceOnly, NO_PROOF),
        "uniform play": Entry(UniformPlay, NO_PROOF),
        "SupKernelUCB, tuned": Entry(tuned, NO_PROOF),
        "BPE, tighter, tuned": Entry(partial(BPE, width=replace(narrow, scale=0.1)), NO_PROOF),
    }
