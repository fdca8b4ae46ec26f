"""Tables of the notebook side by side: mean regret beside that of the best rule, exponents, wrong assumptions.

Tables have one row per rule and one column per problem; NaN where a rule is not defined.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from kbrepro.kernels import Array
from kbrepro.papers.pi_gp_ucb.experiments import regret_exponents
from kbrepro.papers.side_by_side.field import TUNED, Entry

UNIFORM, BEST_PROVED = "uniform play", "IGP-UCB, both"
NEAR = ("SupKernelUCB", "BPE, tighter")
#: Regret below this share of uniform play's counts as that share.
FLOOR = 0.01


def over_best(means: pd.DataFrame) -> pd.DataFrame:
    """Return mean regret over that of the best rule of each problem, both at least FLOOR times uniform play's."""
    floored = means.clip(lower=FLOOR * means.loc[UNIFORM], axis=1)
    return floored / floored.min()


def ranking(factors: pd.DataFrame, entries: Mapping[str, Entry]) -> pd.DataFrame:
    """Return one row per rule, best first: median of `over_best`, and on how many of its problems it is within 2 and 5.

    Rules that are defined on fewer than half of the problems come last.
    """
    table = pd.DataFrame(
        {
            "factor": factors.median(axis=1),
            "q25": factors.quantile(0.25, axis=1),
            "q75": factors.quantile(0.75, axis=1),
            "within twice": (factors <= 2).sum(axis=1),
            "within five times": (factors <= 5).sum(axis=1),
            "problems": factors.count(axis=1),
            "proof": [entries[rule].proof for rule in factors.index],
        }
    )
    few = table["problems"] < factors.shape[1] / 2
    return table.assign(few=few).sort_values(["few", "factor"]).drop(columns="few")


def advice(factors: pd.DataFrame, situations: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    """Return the three rules as printed of least regret in each situation {situation: problems}, best first.

    By the geometric mean of `over_best` over the problems; rules defined on all of them.
    """
    rows = {}
    printed = factors[~factors.index.str.endswith(TUNED)]
    for situation, problems in situations.items():
        best = np.exp(np.log(printed[[*problems]].dropna()).mean(axis=1)).nsmallest(3)
        rows[situation] = [f"{rule} ({factor:.1f})" for rule, factor in best.items()]
    return pd.DataFrame(rows, ["least regret (times the best)", "second", "third"]).T.rename_axis("situation")


def proved_exponents(d: int, nu: float) -> dict[str, float]:
    """Return the proved exponent of every rule that plays for growth; 1 where nothing below is proved."""
    exponents = regret_exponents(d, nu)
    near = dict.fromkeys(NEAR, exponents["lower bound"])
    whole = dict.fromkeys(("IGP-UCB", "IGP-UCB, tighter", "GP-TS"), exponents["IGP-UCB, gain of 2021"])
    cells = dict.fromkeys(("π-GP-UCB", "π-GP-UCB, tighter"), exponents["π-GP-UCB"])
    return near | whole | cells | {BEST_PROVED: exponents["IGP-UCB, lambda grows"]}


def wrong_factors(wrong: Mapping[tuple[str, str], Mapping[str, Array]], rules: Sequence[str]) -> pd.DataFrame:
    """Return by which factor each wrong assumption multiplies a rule's mean regret, geometric mean over problems.

    `wrong`: {(problem, case): {rule: R_T (n,)}}, with the case "as it is" of each problem.
    """
    means = pd.DataFrame({case: {rule: np.mean(panel[rule]) for rule in rules} for case, panel in wrong.items()})
    over = {case: np.log(means[case] / means[case[0], "as it is"]) for case in wrong if case[1] != "as it is"}
    logs = pd.DataFrame(over).T.groupby(level=1, sort=False).mean().T
    return np.exp(logs).loc[[*rules]]
