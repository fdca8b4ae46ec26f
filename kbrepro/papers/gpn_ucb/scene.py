"""The recorded scene of the paper on GPN-UCB: an arm's interval through a chain, with and without envelope."""

from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from kbrepro.figures.live.moments import rounded
from kbrepro.papers.gpn_ucb import experiments, pictures
from kbrepro.papers.gpn_ucb.network import NetworkProblem
from kbrepro.papers.gpn_ucb.policies import GPNUCB
from kbrepro.papers.gpn_ucb.problems import exact_chain
from kbrepro.problems import Trial
from kbrepro.simulation import run

SEED, SIDE, NORM_BOUND, PULLS = 2024, 30, 4.0, 12
#: Numbers of pulls that are kept, and the kinds of sets that are drawn, by the word of the page.
KEPT, KINDS = tuple(range(1, PULLS + 1)), {"with": "grid", "without": "no envelope"}

#: After so many pulls the scene opens; what its panels show of the layers' inputs and outputs.
OPEN, VIEW, HEIGHT = 3, (-4.6, 4.4), (-4.9, 4.4)


class Carried(NamedTuple):
    """A chain, the arms pulled, the arm that is watched, and by number of pulls what `experiments.carried` returns."""

    problem: NetworkProblem
    pulled: list[int]
    arm: int
    after: dict[int, tuple[list[pd.DataFrame], pd.DataFrame]]


@cache
def _carried() -> Carried:
    """The chain of the notebook, its first pulls by GPN-UCB, and an arm next to the second of them."""
    problem = replace(exact_chain(SIDE), norm_bound=NORM_BOUND)(Trial(SEED, 0))
    trace = run(GPNUCB(problem.model, PULLS), problem, PULLS, Trial(SEED, 0).rng("run"))
    pulled, points = trace.arms.tolist(), problem.model.points
    others = np.setdiff1d(np.arange(len(points)), pulled)
    arm = int(others[np.linalg.norm(points[others] - points[pulled[1]], axis=1).argmin()])
    return Carried(problem, pulled, arm, {t: experiments.carried(problem, pulled[:t], arm) for t in KEPT})


def _frame(t: int, layers: list[pd.DataFrame], rows: pd.DataFrame) -> dict[str, Any]:
    ends, bounds = rows.set_index(["kind", "layer"])[["low", "high"]], []
    for its in layers:
        view = its[its["z"].between(*VIEW)]
        pairs = {"raw": ("raw_low", "raw_high"), "tight": ("low", "high")}
        bounds.append({word: [rounded(view[name], 2) for name in names] for word, names in pairs.items()})
    depth = rows["layer"].max()
    intervals = [{word: rounded(ends.loc[kind, i]) for word, kind in KINDS.items()} for i in range(1, depth + 1)]
    return {"t": t, "layers": bounds, "intervals": intervals}


def scene() -> dict[str, Any]:
    """Return the numbers and the words of the scene."""
    its = _carried()
    outputs, z = [output[:, 0] for output in its.problem.outputs], its.after[1][0][0]["z"]
    pairs = list(pairwise(outputs))
    orders = [np.argsort(of)[::8] for of, _ in pairs]
    return {
        "kind": "intervals",
        "title": "GPN-UCB: an interval through a chain of layers",
        "says": [
            "One arm was not pulled: what layer 1 (not drawn: its input is the arm) may return for it goes into "
            "layer 2, and what that may return goes into layer 3, whose output is the reward.",
            "The envelope uses that no layer is steeper than L = 2, and cuts the band between observations; so fewer "
            "values reach the end of the chain.",
        ],
        "try": "Step on. When do the two bars of the reward become equal again, as they were at 1 pull? (B = 4 is "
        "given, twice the layers' norm.)",
        "hero": "GPN-UCB",
        "z": rounded(z[z.between(*VIEW)]),
        "axes": [{"x": VIEW, "y": HEIGHT} for _ in pairs],
        "truth": [{"z": rounded(of[k]), "y": rounded(to[k])} for (of, to), k in zip(pairs, orders, strict=True)],
        "seen": [[rounded([of[arm], to[arm]]) for arm in its.pulled] for of, to in pairs],
        "arm": rounded([output[its.arm] for output in outputs]),
        "frames": [_frame(t, *after) for t, after in its.after.items()],
        "open": KEPT.index(OPEN),
    }


def still() -> Figure:
    """Return the picture that stands where scripts are off: the moment on which it opens."""
    return pictures.kinds(_carried().after[OPEN][1])
