"""The rules that play in the notebook on IGP-UCB and GP-TS, and numbers of the theorems.

Rules of improvement are named by incumbent and margin: `EI` has the mean-based incumbent and margin
0, `EI, noisy incumbent, margin 0.01` says what it has instead.
"""

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, cast

import numpy as np
import pandas as pd
from scipy.linalg import eigvalsh

from kbrepro.bandits.confidence import Chowdhury2017
from kbrepro.bandits.information import allocated_gain
from kbrepro.bandits.kernels import Linear, Matern, SquaredExponential
from kbrepro.bandits.policies import ExpectedImprovement, ProbabilityOfImprovement
from kbrepro.bandits.problems import Model, Trial
from kbrepro.papers import Rules
from kbrepro.papers.igp_ucb.problems import OtherModel, PosteriorMean
from kbrepro.trials.simulation import Experiment, play_trial
from kbrepro.typing import Array

OURS = ("GP-UCB", "IGP-UCB", "GP-TS")
#: How EI and PI are named after incumbent and margin in prior standard deviations.
VARIANTS = {
    ", noisy incumbent": ("noisy_reward", 0.0),
    "": ("posterior_mean", 0.0),
    ", margin 0.01": ("posterior_mean", 0.01),
    ", margin 0.03": ("posterior_mean", 0.03),
    ", margin 0.1": ("posterior_mean", 0.1),
}
#: Variant -> the five rules of a figure.
POOLS = {variant: (*OURS, f"EI{variant}", f"PI{variant}") for variant in VARIANTS}
SE = SquaredExponential
MATERN = partial(Matern, nu=2.5)
#: Panel of Fig. 1 -> the kernel of its functions, then wrong ones.
GIVEN = {
    "(a) SE": (SE(0.2), SE(0.1), SE(0.4), MATERN(0.2)),
    "(b) Matérn": (MATERN(0.2), MATERN(0.1), MATERN(0.4), SE(0.2)),
}


def improvement_rules(prior_sd: float = 1.0) -> Rules:
    """Return EI and PI by name, in each variant; the first arm is random."""
    rules: Rules = {}
    for variant, (incumbent, share) in VARIANTS.items():
        for name, rule in (("EI", ExpectedImprovement), ("PI", ProbabilityOfImprovement)):
            rules[name + variant] = partial(
                rule, incumbent=incumbent, margin=share * prior_sd, random_opening=True
            )
    return rules


# Regret: R_T / T of every trial and rule, by label


def means(final: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the mean R_T / T of every rule, a column for each label."""
    return pd.DataFrame({label: lost.mean() for label, lost in final.items()})


def leads(mean: pd.DataFrame) -> pd.DataFrame:
    """Return who leads in Figs. 1 and 3, a row for each variant of EI and PI.

    Ratios of mean regret (`means`), the larger of two panels.
    """
    fig1, fig3 = (mean.filter(like=name) for name in ("Fig. 1", "Fig. 3"))
    lines: dict[str, list[float]] = {}
    for variant, pool in POOLS.items():
        improving = list(pool[3:])
        rivals = fig1.loc[list(pool)].drop("IGP-UCB").min()
        best = fig3.loc[improving].min()
        ratios = (
            fig1.loc["IGP-UCB"] / rivals,
            fig3.loc[improving].max() / fig3.loc[list(OURS)].min(),
            fig3.loc["GP-TS"] / best,
        )
        lines[variant.removeprefix(", ") or "no margin"] = [float(ratio.max()) for ratio in ratios]
    columns = (
        "Fig. 1: IGP-UCB over the best other",
        "Fig. 3: EI or PI over the best other",
        "Fig. 3: GP-TS over the better of EI and PI",
    )
    return pd.DataFrame(lines, columns).T.rename_axis("EI and PI")


def sensitivity(
    inflation: pd.DataFrame, rules: Sequence[str], variants: Sequence[str]
) -> dict[str, float]:
    """Return how the regret of `rules` grows under wrong kernels, over that of EI and PI, by
    variant.

    `inflation` has a row for each kernel and a column for each rule; means are geometric.
    """
    logs = np.log(inflation).mean()
    ours = logs[list(rules)].mean()
    costs: dict[str, float] = {}
    for variant in variants:
        theirs = logs[[f"EI, {variant}", f"PI, {variant}"]].mean()
        costs[variant] = math.exp(ours - theirs)
    return costs


def take_home(final: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the median and the largest regret of every rule over the best rule's median, in the
    worst panel of Figs. 1 to 3.
    """
    functions = {label: lost for label, lost in final.items() if label.startswith("Fig.")}
    of_label = pd.concat(functions).groupby(level=0)
    median = of_label.median()
    least = median.min(axis=1)
    typical = median.div(least, axis=0).max()
    return pd.DataFrame({"typical": typical, "worst": of_label.max().div(least, axis=0).max()})


# Sensors


def totals_at(experiment: Experiment, at: Sequence[int], trial: Trial) -> dict[str, object]:
    """Return what `play_trial` does on measured data, R_t after the rounds `at` alone.

    A round at which `play_trial` does not keep R_t is left out.
    """
    played = play_trial(experiment, trial, arms=False)
    rounds = np.asarray(played["rounds"])
    chosen = np.isin(rounds, at)
    policies: dict[str, dict[str, Any]] = {}
    for name, kept in cast(dict[str, dict[str, Any]], played["policies"]).items():
        policies[name] = kept | {"totals": kept["totals"][chosen]}
    return {"rounds": rounds[chosen], "policies": policies}


# Theorems


def proved(T: int) -> dict[str, OtherModel]:
    """Return sources of functions of known norm; lambda is that of the theorems, 1 + 2 / T."""
    sources = {
        "SE": PosteriorMean(SE(0.2), n_arms=100),
        "Matérn": PosteriorMean(MATERN(0.2), n_arms=100),
        "linear": PosteriorMean(Linear(1 / 3), n_arms=100, d=3),
    }
    return {name: OtherModel(source, noise_variance=1 + 2 / T) for name, source in sources.items()}


def theorem_3_bound(model: Model, horizon: int, delta: float) -> float:
    """Return 2 beta_T sqrt(4 (T + 2) gamma_T), gamma_T by the spectral bound (Theorem 3)."""
    K = model.kernel(model.points, model.points)
    gain = float(allocated_gain(eigvalsh(K), model.noise_variance, horizon)[-1])
    beta = Chowdhury2017(delta).of(model, gain)
    return 2 * beta * math.sqrt(4 * (horizon + 2) * gain)


def anti_concentration(beta: Array | float) -> Array:
    """Return exp(-beta^2) / (4 sqrt(pi) beta), which Lemma 7 puts below P(Z > beta), beta > 0."""
    return np.exp(-(beta**2)) / (4 * math.sqrt(math.pi) * beta)
