"""How seconds grow with rounds, arms, dimension, arms at once and layers.

GP-UCB on the problem of `peers`, on lattices, and GPN-UCB on chains, each with one size that grows.
"""

from dataclasses import replace

import numpy as np
import pandas as pd

import kbrepro as kb
from benchmarks.harness import Job, Question
from benchmarks.many_arms import A_FORM, MATERN, TRIAL, WIDE, lattice
from benchmarks.peers import on_line, play, ucb
from kbrepro.papers.gpn_ucb.policies import GPNUCB
from kbrepro.papers.gpn_ucb.problems import exact_chain

#: Rounds where these do not grow.
SHORT = 64
#: Arms where the dimension grows, about.
MANY = 34**3


def on_lattice(side, d):
    """Return the rounds of GP-UCB on a lattice."""
    return ucb(lattice(MATERN, side, d), SHORT, width=WIDE, form=kb.LatticePosterior)


def chain(layers):
    """Return the rounds of GPN-UCB on a chain, 30 points a side."""
    problem = replace(exact_chain(30), widths=(1,) * layers)(TRIAL)
    return play(GPNUCB(problem.model, SHORT), problem, SHORT)


def grown(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table with the power of the size by which seconds grew since the size before."""
    logs = np.log(table[["median_s", "size"]]).groupby(table["job"]).diff()
    table["exponent"] = logs["median_s"] / logs["size"]
    return table


JOBS = [
    Job("rounds, 1000 arms", lambda n: ucb(on_line(), n), (250, 500, 1000, 2000, 4000)),
    Job(f"arms, {SHORT} rounds", lambda n: ucb(on_line(n), SHORT), (500, 1000, 2000, 4000)),
    Job("side of a lattice, d = 3", lambda n: on_lattice(n, 3), (12, 24, 34)),
    Job(
        f"dimension of a lattice, about {MANY} arms",
        lambda d: on_lattice(round(MANY ** (1 / d)), d),
        (1, 2, 3, 4),
    ),
    Job(f"arms at once, {SHORT} pulls", lambda n: ucb(on_line(), SHORT // n, n), (1, 4, 16, 32)),
    Job(f"layers, {SHORT} rounds", chain, (2, 3, 4, 6)),
]
GROWTH = Question(
    "How do the seconds of a whole job grow? `exponent`: the power of the size by which they grew"
    f" since the size before. A job is stopped after {A_FORM:g} s.",
    JOBS,
    grown,
)
