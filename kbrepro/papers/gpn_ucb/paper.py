"""Li and Scarlett (2024), the paper on GPN-UCB."""

from kbrepro.papers import Paper

FAMILIES = {
    "#701020": {"GPN-UCB": "-"},
    "#707070": {"NonAda": "-"},
    "#0098a8": {"cUCB": "-."},
    "#4850d8": {"OI": ":"},
    "#c87808": {"cEI": "-", "cEI, exact": "--"},
}
PAPER = Paper("05_gpn_ucb_chains", FAMILIES, title="GPN-UCB, 2024")
