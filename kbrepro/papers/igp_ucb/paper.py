"""Chowdhury and Gopalan (2017), the paper on IGP-UCB and GP-TS."""

from kbrepro.papers import Paper

FAMILIES = {
    "#702020": {"IGP-UCB": "-", "IGP-UCB, tighter": "--", "IGP-UCB, gain of the pulls": "-."},
    "#805880": {"GP-TS": "-"},
    "#388058": {"PI": "-", "PI, noisy incumbent": ":"},  # the paper's name of MPI
}
PAPER = Paper("02_igp_ucb_gp_ts_sensors", FAMILIES)
