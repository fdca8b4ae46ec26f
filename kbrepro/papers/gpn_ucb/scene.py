"""The recorded scene of the paper on GPN-UCB: an arm's interval through a chain, with and without envelope."""

from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray

from kbrepro.figures.live.moments import F, rounded
from kbrepro.figures.style import look
from kbrepro.kernels import Array
from kbrepro.papers.gpn_ucb import experiments, pictures
from kbrepro.papers.gpn_ucb.network import NetworkProblem
from kbrepro.papers.gpn_ucb.policies import GPNUCB
from kbrepro.papers.gpn_ucb.problems import exact_chain
from kbrepro.problems import Trial
from kbrepro.simulation import run

SEED, SIDE, NORM_BOUND, PULLS = 2024, 30, 4.0, 12
#: Numbers of pulls that are kept; the kinds of sets that are drawn and their colours.
KEPT, KINDS = tuple(range(1, PULLS + 1)), {"no envelope": "#767676", "grid": look("GPN-UCB")["color"]}

#: Pulls after which the scene opens; the range of drawn inputs of layers 2 and 3, and one in how many is drawn; the
#: panels' axes, with room for bars.
OPEN, VIEW, EVERY = 3, (-4.6, 4.4), 2
X, Y = ([-5.2, 6.0], [-4.6, 5.4], [-4.6, 5.4]), [-5.4, 4.4]


class Carried(NamedTuple):
    """A chain, the arms pulled, the arm that is watched, and by number of pulls what `experiments.carried` returns."""

    problem: NetworkProblem
    pulled: list[int]
    arm: int
    after: dict[int, tuple[list[pd.DataFrame], pd.DataFrame]]

    @property
    def section(self) -> NDArray[np.intp]:
        """The arms on a line with the one that is watched, along the first coordinate."""
        second = self.problem.model.points[:, 1]
        return np.flatnonzero(second == second[self.arm])

    @property
    def steps(self) -> list[tuple[Array, Array]]:
        """Input and output of every layer, each (A,); the input of layer 1 is the arm's first coordinate."""
        outputs = [output[:, 0] for output in self.problem.outputs]
        return list(pairwise([self.problem.model.points[:, 0], *outputs]))


@cache
def _carried() -> Carried:
    """The chain of the notebook, its first pulls by GPN-UCB, and an arm next to the second of them."""
    problem = replace(exact_chain(SIDE), norm_bound=NORM_BOUND)(Trial(SEED, 0))
    trace = run(GPNUCB(problem.model, PULLS), problem, PULLS, Trial(SEED, 0).rng("run"))
    pulled, points = trace.arms.tolist(), problem.model.points
    others = np.setdiff1d(np.arange(len(points)), pulled)
    arm = int(others[np.linalg.norm(points[others] - points[pulled[1]], axis=1).argmin()])
    return Carried(problem, pulled, arm, {t: experiments.carried(problem, pulled[:t], arm) for t in KEPT})


def _bands(t: int) -> list[dict[str, list[float]]]:
    """Of every layer the bounds after t pulls: `raw` without envelope, and with it, where it is laid."""
    its = _carried()
    sets = its.problem.model.structure.sets(its.problem.model)
    for arm in its.pulled[:t]:
        sets.update(arm, its.problem.pull(arm, np.random.default_rng(0)))
    names = ["raw_low", "raw_high", "low", "high"]
    first = dict(zip(names, (bound[its.section, 0] for bound in sets.regions()[0]), strict=False))
    later = [layer.loc[layer["z"].between(*VIEW), names][::EVERY] for layer in its.after[t][0]]
    return [{name: rounded(bounds[name], 2) for name in bounds} for bounds in (first, *later)]


def _bars(ends: pd.DataFrame, i: int, kind: str) -> list[list[Any]]:
    """What goes into layer i and what comes out, `ends` by kind and layer: a rectangle, and a bar for each."""
    its, (_, edge), above = _carried(), X[i], 0.35 * (kind == "no envelope")
    arm = its.steps[0][0][its.arm]
    left, right = ends.loc[kind, i] if i else (arm - 0.06, arm + 0.06)  # the arm is a point
    low, high = ends.loc[kind, i + 1]
    bars = [
        [left, Y[0] + 0.1 + above, right, Y[0] + 0.4 + above, 100],
        [edge - 0.4 - above, low, edge - 0.1 - above, high, 100],
    ]
    through = ["boxes", [rounded([left, low, right, high, 12])], KINDS[kind], KINDS[kind]]
    return [through, ["boxes", [rounded(bar) for bar in bars], KINDS[kind]]]


def _frame(t: int) -> dict[str, Any]:
    """What stands after t pulls: each layer's band and envelope, and what goes through with and without envelope."""
    its, marks = _carried(), []
    ends = its.after[t][1].set_index(["kind", "layer"])[["low", "high"]]
    for i, (band, (into, out)) in enumerate(zip(_bands(t), its.steps, strict=True)):
        seen = its.pulled[:t] if i else np.intersect1d(its.pulled[:t], its.section)
        lines = [["line", None, band[name], KINDS["grid"], "", 1.2] for name in ("low", "high") if name in band]
        bars = [mark for kind in KINDS for mark in _bars(ends, i, kind)]
        dots = [rounded(its) for its in zip(into[seen], out[seen], strict=True)]
        marks.append([["area", band["raw_low"], band["raw_high"], "#767676", 0.25], *lines, *bars, ["dots", dots, 3.2]])
    plain, cut = ([f"{high - low:.2f}" for low, high in ends.loc[kind].to_numpy()] for kind in ("no envelope", "grid"))
    says = (
        f"What layer 1 may return for this arm is {cut[0]} wide. Layer 2 makes of it {cut[1]} with the envelope "
        f"({plain[1]} without), and layer 3, the reward, {cut[2]} ({plain[2]})."
    )
    return {"label": f"{t} pull{'s' * (t > 1)}", "says": says, "marks": marks}


def _panels(its: Carried) -> list[dict[str, Any]]:
    """The layers, each with the inputs that it is known at, the layer itself and the arm."""
    z, panels = its.after[1][0][0]["z"], []
    titles = ["layer 1: the arm goes in", "layer 2: the bar of layer 1 goes in", "layer 3: out comes the reward"]
    for i, ((into, out), title) in enumerate(zip(its.steps, titles, strict=True)):
        order = np.argsort(into)[::8] if i else its.section
        over: list[list[Any]] = [["line", rounded(into[order]), rounded(out[order]), F[0], F[2]]]
        over.append(["text", *rounded([into[its.arm], out[its.arm]]), "★", F[0]])
        labels = {
            "xlabel": f"input of layer {i + 1}" if i else "arm's first coordinate",
            "ylabel": f"output of layer {i + 1}",
        }
        inputs = rounded(z[z.between(*VIEW)][::EVERY] if i else into[its.section])
        panels.append({"title": title, "x": X[i], "y": Y, "inputs": inputs, "under": [], "over": over} | labels)
    return panels


def scene() -> dict[str, Any]:
    """Return the numbers and the words of the scene."""
    its = _carried()
    return {
        "title": "GPN-UCB: an interval through a chain of layers",
        "says": [
            "Take one arm that was not pulled (star) and a chain of unknown functions, the layers: what one returns "
            "goes into the next. Layer 1 may return any value of an interval for the arm (bar at the right); that bar "
            "goes into layer 2 (below), and all that layer 2 may return for it goes into layer 3, whose output is the "
            "reward.",
            "The envelope uses that no layer is steeper than L = 2, and cuts the band between observations (not in "
            "layer 1, whose input is known), so the bar of the reward is shorter: the arm whose bar ends highest is "
            "pulled next, and fewer bad arms look that good.",
        ],
        "try": "Step on. When do the two bars of the reward become equal again, as they were at 1 pull? (B = 4 is "
        "given, twice the layers' norm.)",
        "panels": _panels(its),
        "key": [
            [KINDS["no envelope"], "without envelope: mean ± B sd"],
            [KINDS["grid"], "with envelope"],
            ["#222", "the layer, unknown", F[2]],
        ],
        "note": "Bars: what may go in (below) and come out (right); a rectangle is both. Star: the truth. Dots: pulled "
        "arms. The first panel shows only the arms with the star's second coordinate, of which at most one was pulled.",
        "frames": [_frame(t) for t in KEPT],
        "open": KEPT.index(OPEN),
    }


def still() -> Figure:
    """Return the picture shown where scripts are off: the moment on which it opens."""
    return pictures.kinds(_carried().after[OPEN][1])
