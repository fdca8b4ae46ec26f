"""Calandriello, Carratino, Lazaric, Valko and Rosasco (2019), the paper on BKB."""

from kbrepro.papers import Paper

FAMILIES = {
    "#083090": {
        "BKB": "-",
        "BKB, streaming": "--",
        "BKB, authors' radius": ":",
        "BKB, Theorem 2's radius": "-.",
    },
    "#000000": {"exact": "-"},
    "#e03078": {"SoR": "-"},
    "#b08000": {"RFF": "-."},
    "#007058": {"QFF": ":"},
    "#289898": {"mini-GP-UCB": "-"},
}
PAPER = Paper("04_bkb_variance_starvation", FAMILIES, title="BKB, 2019")
