"""What Chowdhury and Gopalan (2017) say of their experiments, as predicates on the tables behind their figures.

The paper names neither the incumbent of EI and PI nor a margin; footnote 11 rules one reading out. "EI and PI" is that
choice: the largest noisy reward, or the largest posterior mean with a margin in prior standard deviations.
"""

from itertools import combinations

import numpy as np

from kbrepro.claims import claim
from kbrepro.claims.tables import Table
from kbrepro.claims.words import best, clearly_better, competitive, indistinguishable, same_order, similar

OURS = ("GP-UCB", "IGP-UCB", "GP-TS")
POOL = (*OURS, "EI", "PI")
THE_REST = ("GP-UCB", "EI", "PI")
MARGIN = {f"margin {m:g}": {rule: f"{rule}, margin {m:g}" for rule in ("EI", "PI")} for m in (0.01, 0.03, 0.1)}
NOISY = {"noisy reward": {rule: f"{rule}, noisy incumbent" for rule in ("EI", "PI")}}
INCUMBENT = {"EI and PI": NOISY | MARGIN | {"no margin": {}}}
FOOTNOTE = {"no margin": "footnote 11: EI and PI cannot be told apart in the plots"}


def on(label):
    """The paper's own rules on another label."""
    return {rule: (label, rule) for rule in OURS}


def functions(label):
    """A panel of Figs. 1 to 3: the norm is exact or smoothed, or as Section 6 prints it, f'Kf."""
    norm = {"norm": {"exact": {}, "as printed": on(f"{label}, B printed")}}
    return Table(label, label, 25, "function", POOL, INCUMBENT | norm, FOOTNOTE)


def rows(data, number):
    """A panel of Fig. 4: all test rows, under five norms of a row of readings."""
    norms = {"smoothed": {}} | {
        kind: on(f"{data}, B {kind}") for kind in ("cut-off 1e-3", "cut-off 1e-10", "printed", "one")
    }
    readings = INCUMBENT | {"norm": norms}
    if data == "light":
        readings |= {"readings": {"counts": {}, "standardised": {"*": "light, standardised"}}}
    return Table(f"Fig. 4, {data}", data, number, "row", POOL, readings, FOOTNOTE, rows=number)


fig1a, fig1b = functions("Fig. 1 (a) SE"), functions("Fig. 1 (b) Matérn")
fig2a, fig2b = functions("Fig. 2 (a) SE"), functions("Fig. 2 (b) Matérn")
fig3a, fig3b = functions("Fig. 3 (a) Rosenbrock"), functions("Fig. 3 (b) Hartmann-3")
fig4a, fig4b = rows("temperature", 120), rows("light", 192)


def over_best(fig, rule, rivals=POOL):
    """The mean R_T of a rule over that of the best rival."""
    return fig[rule] / np.min([fig[rival] for rival in rivals if rival != rule], axis=0)


# Figs. 1 and 2: functions of the RKHS and of the prior


@claim(
    *("2-A", "Section 6, Fig. 1", "We see a significant improvement in the performance of IGP-UCB over GP-UCB."),
    effect=lambda fig1a, fig1b: np.min([fig["GP-UCB"] / fig["IGP-UCB"] for fig in (fig1a, fig1b)], axis=0),
    shows="mean R_T of GP-UCB over that of IGP-UCB, the smaller of two panels",
)
def improves_on_gp_ucb(fig1a, fig1b):
    return np.all([clearly_better(fig["IGP-UCB"], fig["GP-UCB"]) for fig in (fig1a, fig1b)], axis=0)


@claim(
    *("2-C", "Section 6, Fig. 1", "In fact IGP-UCB performs the best in the pool of competitors"),
    effect=lambda fig1a, fig1b: np.max([over_best(fig, "IGP-UCB") for fig in (fig1a, fig1b)], axis=0),
    shows="mean R_T of IGP-UCB over that of its best rival, the larger of two panels",
)
def igp_ucb_is_best(fig1a, fig1b):
    return best(fig1a, "IGP-UCB") & best(fig1b, "IGP-UCB")


@claim(
    *("2-E", "Section 6, Fig. 1", "while GP-TS also fares reasonably well compared to GP-UCB and GP-EI/GP-PI."),
    effect=lambda fig1a, fig1b: np.max([over_best(fig, "GP-TS", THE_REST) for fig in (fig1a, fig1b)], axis=0),
    shows="mean R_T of GP-TS over the best of GP-UCB, EI and PI, the larger of two panels",
)
def gp_ts_fares_well(fig1a, fig1b):
    return competitive(fig1a, "GP-TS", THE_REST) & competitive(fig1b, "GP-TS", THE_REST)


@claim(
    *(
        "2-F",
        "Section 6, footnote 11",
        "GP-EI and PI perform similarly and thus are not separately distinguishable in the plots.",
    ),
    effect=lambda *figures: np.max([np.abs(fig["EI"] - fig["PI"]) / fig.axis for fig in figures], axis=0),
    shows="largest gap between EI and PI in eight panels, as a share of the axis",
)
def ei_and_pi_are_alike(fig1a, fig1b, fig2a, fig2b, fig3a, fig3b, fig4a, fig4b):
    figures = fig1a, fig1b, fig2a, fig2b, fig3a, fig3b, fig4a, fig4b
    return np.all([indistinguishable(fig["EI"], fig["PI"], fig.axis) for fig in figures], axis=0)


@claim(
    *(
        "2-G",
        "Section 6, Fig. 2",
        "The relative performance of all methods is similar to that in the previous experiment",
    )
)
def same_order_on_draws(fig1a, fig1b, fig2a, fig2b):
    return same_order(fig1a, fig2a, combinations(POOL, 2)) & same_order(fig1b, fig2b, combinations(POOL, 2))


# Fig. 3: test functions


@claim(
    *("2-H", "Section 6, Fig. 3", "We see GP-EI/PI perform better than the rest"),
    effect=lambda fig3a, fig3b: np.max(
        [over_best(fig, rule, OURS) for fig in (fig3a, fig3b) for rule in ("EI", "PI")], axis=0
    ),
    shows="mean R_T of EI or PI over the best of the rest, the largest of two panels",
)
def ei_and_pi_lead(fig3a, fig3b):
    return np.all([best(fig, rule, OURS) for fig in (fig3a, fig3b) for rule in ("EI", "PI")], axis=0)


@claim(
    *("2-I", "Section 6, Fig. 3", "while IGP-UCB and GP-TS show competitive performance."),
    effect=lambda fig3a, fig3b: np.max(
        [over_best(fig, rule, ("EI", "PI")) for fig in (fig3a, fig3b) for rule in OURS[1:]], axis=0
    ),
    shows="mean R_T of IGP-UCB or GP-TS over the better of EI and PI, the largest of two panels",
)
def the_rest_is_competitive(fig3a, fig3b):
    return np.all([competitive(fig, rule, ("EI", "PI")) for fig in (fig3a, fig3b) for rule in OURS[1:]], axis=0)


# Fig. 4: sensors


@claim(
    *("2-J", "Section 6, Fig. 4 (a)", "From Figure 4, we see that IGP-UCB and GP-UCB performs the same"),
    effect=lambda fig4a: fig4a["IGP-UCB"] / fig4a["GP-UCB"],
    shows="mean R_T of IGP-UCB over that of GP-UCB",
)
def igp_ucb_equals_gp_ucb(fig4a):
    return similar(fig4a["IGP-UCB"], fig4a["GP-UCB"])


@claim(
    *("2-K", "Section 6, Fig. 4 (a)", "while GP-TS outperforms all its competitors."),
    effect=lambda fig4a: over_best(fig4a, "GP-TS"),
    shows="mean R_T of GP-TS over that of its best rival",
)
def gp_ts_wins_on_temperature(fig4a):
    return best(fig4a, "GP-TS")


@claim(
    *("2-L", "Section 6, Fig. 4 (b)", "Here also GP-TS is found to perform better than the others"),
    effect=lambda fig4b: over_best(fig4b, "GP-TS"),
    shows="mean R_T of GP-TS over that of its best rival",
)
def gp_ts_wins_on_light(fig4b):
    return best(fig4b, "GP-TS")


@claim(
    *("2-M", "Section 6, Fig. 4 (b)", "with IGP-UCB performing better than GP-EI/PI (Figure 4)."),
    effect=lambda fig4b: over_best(fig4b, "IGP-UCB", ("EI", "PI")),
    shows="mean R_T of IGP-UCB over the better of EI and PI",
)
def igp_ucb_beats_ei_and_pi_on_light(fig4b):
    return best(fig4b, "IGP-UCB", ("EI", "PI"))


@claim(
    *(
        "2-Q",
        "Section 4.1",
        "we observe a significantly improved performance of IGP-UCB over GP-UCB, both on synthetically generated "
        "function, and on real-world sensor measurement data",
    ),
    effect=lambda fig4a, fig4b: np.min([fig["GP-UCB"] / fig["IGP-UCB"] for fig in (fig4a, fig4b)], axis=0),
    shows="mean R_T of GP-UCB over that of IGP-UCB, the smaller of two sensor sets",
)
def improves_everywhere(fig1a, fig1b, fig4a, fig4b):
    return np.all([clearly_better(fig["IGP-UCB"], fig["GP-UCB"]) for fig in (fig1a, fig1b, fig4a, fig4b)], axis=0)
