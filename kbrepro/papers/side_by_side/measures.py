"""Tables of the notebook side by side: regret over the best rule's, the ranking, exponents.

Tables have one row per rule and one column per problem; NaN where a rule is not defined.
"""

import pandas as pd

from kbrepro.papers.pi_gp_ucb.measures import regret_exponents

UNIFORM = "uniform play"
BEST_PROVED = "IGP-UCB, both"
NEAR = ("SupKernelUCB", "BPE, tighter")
#: Regret below this share of uniform play's counts as that share.
FLOOR = 0.01


def over_best(means: pd.DataFrame) -> pd.DataFrame:
    """Return mean regret over the best rule's, both at least FLOOR times uniform play's."""
    floored = means.clip(lower=FLOOR * means.loc[UNIFORM], axis=1)
    return floored / floored.min()


def ranking(factors: pd.DataFrame) -> pd.DataFrame:
    """Return a row per rule, best first: median of `over_best`, and where it is at most 2.

    Rules that are defined on fewer than half of the problems come last.
    """
    table = pd.DataFrame(
        {
            "factor": factors.median(axis=1),
            "q25": factors.quantile(0.25, axis=1),
            "q75": factors.quantile(0.75, axis=1),
            "within twice": (factors <= 2).sum(axis=1),
            "problems": factors.count(axis=1),
        }
    )
    few = table["problems"] < factors.shape[1] / 2
    return table.assign(few=few).sort_values(["few", "factor"]).drop(columns="few")


def proved_exponents(d: int, nu: float) -> dict[str, float]:
    """Return the proved exponent of every rule that plays for growth, at most 1."""
    exponents = regret_exponents(d, nu)
    near = dict.fromkeys(NEAR, exponents["lower bound"])
    of_2021 = exponents["IGP-UCB, gain of 2021"]
    whole = dict.fromkeys(("IGP-UCB", "IGP-UCB, tighter", "GP-TS"), of_2021)
    cells = dict.fromkeys(("π-GP-UCB", "π-GP-UCB, tighter"), exponents["π-GP-UCB"])
    return near | whole | cells | {BEST_PROVED: exponents["IGP-UCB, lambda grows"]}
