"""A synthesis, no paper: the papers' policies, and those that are near-optimal on paper, on the papers' problems."""

from kbrepro.papers import Paper

#: More algorithms than colours: a figure colours the kind of proof, and names stand beside the marks.
FAMILIES = {
    "#083090": {"near-optimal": "-"},
    "#e03078": {"sublinear": "--"},
    "#b08000": {"Bayesian": "-."},
    "#707070": {"no proof": ":"},
}
PAPER = Paper("06_side_by_side", "near-optimal", FAMILIES, synthesis=True)
