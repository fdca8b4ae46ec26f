"""A synthesis, no paper: all policies, and those near-optimal on paper, on the papers' problems."""

from kbrepro.papers import Paper

#: More algorithms than colours: a figure colours the kind of proof, and marks have names.
FAMILIES = {
    "#083090": {"proof: near-optimal": "-"},
    "#e03078": {"proof: sublinear": "--"},
    "#b08000": {"proof: Bayesian": "-."},
    "#000000": {"proof: no proof": ":"},
}
PAPER = Paper("06_side_by_side", FAMILIES, synthesis=True, title="Side by side")
