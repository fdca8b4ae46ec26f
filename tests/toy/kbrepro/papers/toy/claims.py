"""What Nobody (2026) says, as predicates on the table behind Fig. 1."""

from kbrepro.claims import Checked, claim, theorem
from kbrepro.claims.tables import Table
from kbrepro.claims.words import better, near_optimal

WIDTH = {"width": {"two": {}, "five": {"Both": "Both, cautious"}}}  # the paper does not print it
fig1 = Table("Fig. 1", "Fig. 1", 10, "hill", ("Both", "Both, cautious"), WIDTH)


@claim(
    "9-A", "Fig. 1", effect=lambda fig1: fig1["Both"] / fig1["Both, cautious"], shows="mean R_T over that of its sister"
)
def less_regret(fig1):
    """Both has less regret than its cautious sister."""
    return better(fig1["Both"], fig1["Both, cautious"])


@claim("9-B", "Fig. 1", kind="own question")
def hill(fig1):
    return near_optimal(fig1("Both, cautious", "simple regret"))


@theorem("9-T", "Theorem 1", "runs of Both above T")
def below_horizon(kept):
    """The regret is at most the horizon."""
    regret = kept.column("Fig. 1", "Both", "total")
    horizon = kept.traces("Fig. 1")["Both"].horizon
    return Checked(int((regret > horizon).sum()), len(regret), 0.0, float((regret / horizon).max()))
