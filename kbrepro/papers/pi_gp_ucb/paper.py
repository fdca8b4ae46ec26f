"""Janz, Burt and González (2020), the paper on π-GP-UCB."""

from kbrepro.papers import Paper

FAMILIES = {
    "#083098": {"π-GP-UCB": "-", "π-GP-UCB, thesis": "--", "π-GP-UCB, both": "-."},
    "#702020": {"IGP-UCB, lambda grows": ":", "IGP-UCB, both": "-."},
}
PAPER = Paper("03_pi_gp_ucb_scaling", FAMILIES, title="π-GP-UCB, 2020")
