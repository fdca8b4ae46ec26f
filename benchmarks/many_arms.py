"""Exact IGP-UCB and π-GP-UCB on many arms: Table 1 of Janz et al. (2020), side^d arms, Matérn 3/2.

d = 3: lazy IGP-UCB at the width of 2017 and at the narrow one proved since, π-GP-UCB, and one matrix-vector product a
step, extrapolated from 20 of them. d = 2: lazy IGP-UCB against one `dsyr` a step, which must pull the same arms.
Whether the pulls of d = 3 are those of the plain rule: `python -m benchmarks.referee`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.harness import Aim, row, timed
from benchmarks.peers import policy_on
from kbrepro.confidence import Asking, Improved, Tighter
from kbrepro.kernels import Matern
from kbrepro.papers.pi_gp_ucb.experiments import growing_variance
from kbrepro.papers.pi_gp_ucb.many_arms import LazyUCB
from kbrepro.papers.pi_gp_ucb.partition import PartitionedUCB
from kbrepro.papers.pi_gp_ucb.problems import Bumps
from kbrepro.policies.base import Policy
from kbrepro.posterior import CovariancePosterior
from kbrepro.problems import Problem, Trial
from kbrepro.simulation import rounds

TRIAL = Trial(2020, 0)
#: The widths of lazy exact IGP-UCB, each with whether lambda grows with T.
WIDTHS: dict[str, tuple[Callable[[Asking], float], bool]] = {
    "width of 2017": (Improved(delta=0.1), False),
    "narrow width": (Tighter(delta=0.1), True),
}
#: Seconds after which a run of d = 3 is stopped.
STOP_AFTER = 600.0


def problem_of(d: int, side: int, horizon: int, grows: bool = False) -> Problem:
    """Return the problem of Table 1 in d dimensions; with `grows` lambda is the power of T that theory wants."""
    variance = growing_variance(horizon, d, 1.5) if grows else 1.0
    return Bumps(Matern(0.2, nu=1.5), d, side, noise_variance=variance, noise_bound=1.0)(TRIAL)


def played(policy: Policy, problem: Problem, horizon: int) -> Iterator[tuple[int, int, Any]]:
    """Return the rounds of a policy."""
    return rounds(policy, problem, horizon, TRIAL.rng("run"))


def two_dimensions(side: int, horizon: int, repeats: int) -> list[dict[str, Any]]:
    """Return the rows of d = 2; `same_arms`: whether lazy IGP-UCB pulls what the plain one does."""
    problem, width = problem_of(2, side, horizon), WIDTHS["width of 2017"][0]
    model, size = problem.model, {"arms": side**2, "t": horizon}
    plain = timed(lambda: played(policy_on(CovariancePosterior, model, horizon, width), problem, horizon), repeats)
    lazy = timed(lambda: played(LazyUCB(model, horizon, width=width), problem, horizon), repeats)
    same = [arm for _, arm, _ in plain.items] == [arm for _, arm, _ in lazy.items]
    return [
        row("d = 2, one dsyr a step", plain.totals(), plain.note, **size),
        row("d = 2, lazy exact", lazy.totals(), lazy.note, **size, same_arms=same),
    ]


def three_dimensions(side: int, horizon: int) -> list[dict[str, Any]]:
    """Return the rows of d = 3, one run each."""
    rows = [lazy_in_three(name, side, horizon) for name in WIDTHS]
    rows.append(products(side**3, horizon))
    problem = problem_of(3, side, horizon)
    cells = PartitionedUCB(problem.model, horizon, delta=0.1, nu=1.5)
    run = timed(lambda: played(cells, problem, horizon), 1, STOP_AFTER)
    return [*rows, row("d = 3, π-GP-UCB", run.totals(), run.note, arms=side**3, t=horizon)]


def lazy_in_three(name: str, side: int, horizon: int) -> dict[str, Any]:
    """Return the row of lazy exact IGP-UCB; `flop`: A T^2, what its products with all arms need at least."""
    width, grows = WIDTHS[name]
    problem = problem_of(3, side, horizon, grows)
    policy = LazyUCB(problem.model, horizon, width=width)
    run = timed(lambda: played(policy, problem, horizon), 1, STOP_AFTER)
    known = {"pulls": len(run.items) / max(policy.posterior.n_blocks, 1), "flop": side**3 * horizon**2}
    return row(f"d = 3, lazy exact, {name}", run.totals(), run.note, arms=side**3, t=horizon, **known)


def products(n_arms: int, horizon: int) -> dict[str, Any]:
    """Return the row of one matrix-vector product V[:t, arm] V[:t] a step, t = 1 .. horizon, from 20 of them."""
    V, at = np.full((horizon, n_arms), 0.5), np.linspace(1, horizon - 1, 20).astype(int)
    run = timed(lambda: (V[:t, t % n_arms] @ V[:t] for t in at))
    seconds = [float(steps.sum()) * horizon / len(at) for steps in run.steps]
    known = {"bytes": 8 * n_arms * at.sum() * horizon / len(at), "note": "extrapolated from 20 steps"}
    return row("d = 3, one matrix-vector product a step", seconds, arms=n_arms, t=horizon, **known)


def aims(table: pd.DataFrame) -> Iterator[Aim]:
    """Yield what came of the aims on many arms, from the table of `limits`."""
    its, seconds = table.set_index("job"), table.set_index("job")["median_s"]
    flushes = table[table["job"] == "lazy flush"].sort_values("pulls")
    rates = ", ".join(f"{flush['of_products']:.0%} with {flush['pulls']:.0f} pulls" for _, flush in flushes.iterrows())
    for name, most in (("width of 2017", 2), ("narrow width", 3)):
        run = its.loc[f"d = 3, lazy exact, {name}"]
        times, reason = 1 / run["of_products"], f"{run['pulls']:.0f} pulls a block; a flush reaches {rates}"
        aim = f"d = 3, {name}: at most {most} times the floor of its products"
        yield Aim(aim, f"{times:.1f} times", bool(times <= most), reason)
    small = table[table["job"] == "dsyr alone"].sort_values("arms").iloc[0]
    in_cache = f"; a dsyr of {small['arms']:.0f} arms reaches {small['of_bandwidth']:.0%} of the memory's bandwidth"
    lazy = "d = 3, lazy exact, width of 2017"
    for slow, fast, least, why in (
        ("d = 3, one matrix-vector product a step", lazy, 5, ""),
        (lazy, "d = 3, π-GP-UCB", 20, ""),
        ("d = 2, one dsyr a step", "d = 2, lazy exact", 2, in_cache),
    ):
        factor = seconds[slow] / seconds[fast]
        reason = f"{seconds[slow]:.3g} s and {seconds[fast]:.3g} s{why}"
        yield Aim(f"{slow}: at least {least} times {fast}", f"{factor:.1f} times", bool(factor >= least), reason)
    same = str(its.loc["d = 2, lazy exact", "same_arms"]) == "True"
    yield Aim("d = 2, lazy exact: the arms of the plain rule", "yes" if same else "no", same, "docs/exact_igp_ucb.md")
