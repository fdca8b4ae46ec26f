"""kbrepro: papers on kernelized (Gaussian-process) bandits, and the parts that they are made of.

The package in ten lines. A `Model` has all that a policy may know: the arms' points, a kernel and
the variance of the noise. A policy is an acquisition rule (UCB, EI, PI, Thompson sampling, PIMS)
with the exact posterior of all arms; `ask` returns the arm to pull, and `tell` takes in the
observation. A *width*, such as `Srinivas2010`, is how many posterior standard deviations an upper
confidence bound lies above the mean. A `Problem` adds what no policy sees: the expected reward of
every arm, and the noise. A *source* of problems, such as `GPDraw`, makes the problem of one
`Trial`, whose seed and number fix all of its random numbers. An `Experiment` is a source with the
policies that meet its problems; `run_trials` plays it on all processors and returns a `Curve` for
each policy: the arm and the regret of every round and trial. `played` reads the notebooks' traces.
`bootstrap` and similar functions turn them into an `Estimate` with an interval, and
`replication_probability` says how often an experiment of a given size would show a finding again.

Plots (`kbrepro.figures`), claims (`kbrepro.claims`), sensor data (`kbrepro.data`) and the papers'
own algorithms (`kbrepro.papers`) are imported by name: this module loads nothing that plots or
reads files.
"""

import sys as _sys
from importlib.metadata import version as _version

from kbrepro.bandits.confidence import (
    AbbasiYadkori2011,
    Chowdhury2017,
    Constant,
    Flynn2024,
    Srinivas2010,
)
from kbrepro.bandits.kernels import Empirical, Independent, Linear, Matern, SquaredExponential, grid
from kbrepro.bandits.policies import (
    PIMS,
    UCB,
    ExpectedImprovement,
    MeanOnly,
    ProbabilityOfImprovement,
    ThompsonSampling,
    VarianceOnly,
)
from kbrepro.bandits.policies.base import Policy
from kbrepro.bandits.posterior import LatticePosterior, exact_posterior
from kbrepro.bandits.problems import (
    Gaussian,
    GPDraw,
    Known,
    Model,
    Problem,
    RKHSFunction,
    Rows,
    Trial,
    Uniform,
)
from kbrepro.claims.estimates import Estimate, bootstrap, mean_difference, share
from kbrepro.claims.replication import ReplicationProbability, replication_probability
from kbrepro.trials.curve import Curve, final_average_regret, simple_regret
from kbrepro.trials.simulation import Experiment, frame, map_trials, played, rounds, run, run_trials

__version__ = _version("kbrepro")

# a policy that was saved before its classes moved here finds them, and says of what version it is
for _name in [name for name in _sys.modules if name.startswith("kbrepro.bandits.")]:
    _sys.modules.setdefault(_name.replace("bandits.", ""), _sys.modules[_name])

__all__ = [
    "PIMS",
    "UCB",
    "AbbasiYadkori2011",
    "Chowdhury2017",
    "Constant",
    "Curve",
    "Empirical",
    "Estimate",
    "ExpectedImprovement",
    "Experiment",
    "Flynn2024",
    "GPDraw",
    "Gaussian",
    "Independent",
    "Known",
    "LatticePosterior",
    "Linear",
    "Matern",
    "MeanOnly",
    "Model",
    "Policy",
    "ProbabilityOfImprovement",
    "Problem",
    "RKHSFunction",
    "ReplicationProbability",
    "Rows",
    "SquaredExponential",
    "Srinivas2010",
    "ThompsonSampling",
    "Trial",
    "Uniform",
    "VarianceOnly",
    "bootstrap",
    "exact_posterior",
    "final_average_regret",
    "frame",
    "grid",
    "map_trials",
    "mean_difference",
    "played",
    "replication_probability",
    "rounds",
    "run",
    "run_trials",
    "share",
    "simple_regret",
]
