"""Srinivas, Krause, Kakade and Seeger (2010), the paper on GP-UCB."""

from kbrepro.papers import Paper

FAMILIES = {
    "#202868": {"GP-UCB": "--", "GP-UCB/5": "-", "GP-UCB, Theorem 2": ":"},
    "#a04000": {"EI": "-", "EI, noisy incumbent": ":"},
    "#388058": {"MPI": "-", "MPI, noisy incumbent": ":"},
    "#504848": {"mean only": "-."},
    "#a88800": {"variance only": "--"},
    "#6020f8": {"IRGP-UCB": "--"},
    "#a88090": {"PIMS": "-."},
    "#5088f8": {"GP-EIMS": "-"},
}
PAPER = Paper("01_gp_ucb_information_gain", FAMILIES, title="GP-UCB, 2010")
