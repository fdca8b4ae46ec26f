"""The live scene of the paper on IGP-UCB: what its rival EI asks to exceed, the incumbent, and by how much."""

from functools import cache, partial
from typing import Any

from matplotlib.figure import Figure

from kbrepro.figures.live import moments, still_of
from kbrepro.policies import ExpectedImprovement
from kbrepro.problems import Trial

SEED, LENGTHSCALE, NOISE_SD = 2010, 0.1, 0.5
#: The trials and rounds that are shown: a typical one, and one in which EI settles on a lower peak.
TYPICAL, STUCK = (34, 59), (56, 100)

POLICIES: moments.Policies = {
    "EI": ExpectedImprovement,
    "EI, noisy incumbent": partial(ExpectedImprovement, incumbent="noisy_reward"),
}


@cache
def scene() -> dict[str, Any]:
    """Return the numbers and the words of the scene."""
    plain, noisy = ({"name": name, "margin": 0.0} for name in POLICIES)
    trials = [Trial(SEED, number) for number, _ in (TYPICAL, STUCK)]
    truths = [moments.truth("SE", LENGTHSCALE, NOISE_SD, trial) for trial in trials]
    return {
        "title": "EI: improvement over what, and by how much?",
        "says": [
            "Expected improvement (EI) asks to exceed an incumbent, the dotted line: left the best posterior mean of "
            "the pulled arms, right the best observation, noise included.",
            "As opened: lucky observations have lifted the right line above all of f, so the right player goes on "
            "exploring, while the left one has found the best arm.",
        ],
        "try": "Press “The margin”: there, on a draw that was picked to show it, EI without a margin stays on a "
        "lower peak, and a margin of 0.1 frees it. Is one draw typical? Press “Play 50 "
        "fresh draws”. And what do larger margins cost?",
        **moments.of(
            [
                moments.moment("The incumbent", truths[0], [plain, noisy], TYPICAL[1]),
                moments.moment("The margin", truths[1], [plain, plain | {"margin": 0.1}], STUCK[1]),
            ]
        ),
    }


def still() -> Figure:
    """Return the picture shown where scripts are off: the moment on which the scene opens."""
    return still_of.players(scene()["moments"][0], POLICIES, "Over the best noisy observation EI explores for ever")
