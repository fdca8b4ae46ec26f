"""What users give is taken in once, as float64, or refused by name: every public name, called with
odd values.
"""

import copy
import inspect
import json
import re
from fractions import Fraction
from functools import partial

import numpy as np
import pandas as pd
import pytest
from traces import trace_of

import kbrepro as kb
from kbrepro import checks
from kbrepro.bandits.policies.base import IndexPolicy
from kbrepro.bandits.posterior import ExactPosterior, RowPosterior

POINTS, KERNEL = kb.grid(12), kb.Matern(0.3, nu=2.5)
HILL = np.sin(3 * POINTS[:, 0])
MODEL = kb.Model(POINTS, KERNEL, 0.1, norm=2.0)
PROBLEM = kb.Problem(MODEL, HILL)
UCB = partial(kb.UCB, width=kb.Srinivas2010(0.1))
TRACE = trace_of(np.zeros((2, 5)))

# What arrays may be


def series(values):
    return pd.Series(values, index=np.arange(len(values))[::-1])


def table(values):
    return pd.DataFrame(
        values, index=np.arange(len(values))[::-1], columns=list("zyxw")[: np.shape(values)[1]]
    )


FORMS = {
    "list": np.ndarray.tolist,
    "tuple": lambda a: tuple(map(tuple, a)) if a.ndim == 2 else tuple(a),
    "pandas": lambda a: series(a) if a.ndim == 1 else table(a),
    "nullable": lambda a: (series(a) if a.ndim == 1 else table(a)).astype("Int64"),
    "uint8": lambda a: a.astype(np.uint8),
    "int16": lambda a: a.astype(np.int16),
    "float16": lambda a: a.astype(np.float16),
    "fractions": lambda a: np.vectorize(Fraction)(a.astype(int)).astype(object),
    "masked": np.ma.masked_array,
    "other byte order": lambda a: a.astype(">f8"),
    "reversed twice": lambda a: a[::-1].copy()[::-1],
    "Fortran order": np.asfortranarray,
    "read only": lambda a: np.frombuffer(a.tobytes()).reshape(a.shape),
}


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_the_same_numbers_gives_the_same_run_and_a_history_of_pythons(form, seed):
    rng = np.random.default_rng([48, seed])
    X = rng.integers(0, 101, (rng.integers(2, 7), rng.integers(1, 4))).astype(float)
    reward = X[:, 0].copy()

    def played(X, reward, noise):
        model = kb.Model(X, kb.Linear(), 1.0)
        policy = UCB(model, 6, rng=seed, warn=False)
        trace = kb.run(policy, kb.Problem(model, reward), 6, np.random.default_rng(seed))
        policy.tell(range(len(reward)), reward, noise)
        found = [trace.regret, policy.posterior.mean, json.dumps(policy.history)]
        kernels = kb.Linear(), kb.SquaredExponential(40.0), KERNEL, kb.Independent()
        return [*found, *[kernel(X, X) for kernel in kernels], kb.Linear().diag(X)]

    other_form = FORMS[form]
    others = played(other_form(X), other_form(reward), other_form(reward + 1))
    for one, other in zip(played(X, reward, reward + 1), others, strict=True):
        np.testing.assert_array_equal(one, other)


def test_nothing_that_is_later_done_to_an_array_changes_what_was_made_of_it():
    X, y, K = POINTS.copy(), HILL.copy(), np.eye(12)
    model, kernel = kb.Model(X, KERNEL, 0.1), kb.Empirical(K)
    problem, posterior = kb.Problem(model, y), RowPosterior(KERNEL, X, 0.1)
    rows, functions = kb.Rows(K, K[:2], 0.1), kb.RKHSFunction(KERNEL, X, 0.1, 1.0, 3)
    made = model.points, kernel.covariance, problem.expected_reward, rows.rewards, rows.covariance
    before = copy.deepcopy([*made, functions.points])
    X[:], y[:], K[:] = 7.0, -1.0, 5.0
    np.testing.assert_equal([*made, functions.points], before)
    posterior.update(3, 1.0)
    assert posterior.mean[0] != posterior.mean[5]


@pytest.mark.parametrize("short", [np.int8, np.float16, np.int64])
def test_small_numpy_scalars_are_parameters_like_python_numbers(short):
    def index(number):
        kernel = kb.SquaredExponential(number(1), number(100))
        model = kb.Model(POINTS, kernel, number(1), norm=number(100))
        assert {type(model.noise_variance), type(model.norm)} <= {int, float}
        policy = kb.UCB(model, 100, width=kb.Srinivas2010(0.25, number(100)))
        policy.tell(3, number(5))
        return policy.index()

    np.testing.assert_array_equal(index(short), index(int))
    assert repr(kb.Trial(np.int8(3), np.int64(4))) == repr(kb.Trial(3, 4))


# Every public name, called with odd values


class Odd:
    """An object whose text cannot be made."""

    def __repr__(self):
        raise RuntimeError("no text")


ODD = [
    None, True, 0, -1, 3, 2.5, -0.5, 0.0, 1e300, 1e-300, 10**400, float("nan"), float("inf"),
    1 + 2j, "rbf", "", b"x",
    "x" * 1000, [], [1.0], [[1, 2], [3]], [0.1, 0.2, 0.4], [True, False, True],
    [float("nan")] * 12, list(range(12)),
    {}, {"u": UCB}, {"u": 3}, (1, 2), {1, 2}, range(12), np.float32(0.5), np.int8(100),
    np.bool_(True),
    np.float64("nan"),
    np.array(0.5), np.zeros(0), np.zeros((0, 2)), np.zeros((2, 0)), np.zeros((2, 2, 2)),
    np.arange(12), HILL, POINTS,
    np.full(12, np.inf), np.array(["a", "b"]), np.array([None, 1.0]),
    np.ma.masked_array([1.0, 2.0], [False, True]),
    np.zeros(900), pd.Series(HILL), pd.DataFrame({"a": [1, 2], "b": ["x", "y"]}), pd.Timestamp(0),
    object(), Odd(), Odd,
    kb.Matern, KERNEL, kb.UCB, UCB, MODEL, PROBLEM, kb.Known(PROBLEM), kb.Trial(0, 0), TRACE,
    kb.Srinivas2010(0.1), kb.Srinivas2010, lambda *_: 1.0, np.mean, np.random.default_rng,
    np.random.PCG64(0),
    Fraction(1, 3), slice(3), ..., int, type,
]  # fmt: skip


def good(rng):
    """Well-formed values, by the name of a parameter."""
    return {
        "points": [POINTS, kb.grid(3, 2), POINTS.tolist()],
        "kernel": [KERNEL, kb.Linear(), kb.SquaredExponential(0.2)],
        "noise_variance": [0.1, 1], "noise_scale": [None, 0.3], "norm": [None, 1.0, 2],
        "model": [MODEL],
        "horizon": [1, 7, np.int64(9)],
        "width": [kb.Srinivas2010(0.1), kb.Constant(1.0), kb.Chowdhury2017(0.1), lambda _: 2.0],
        "incumbent": ["posterior_mean", "noisy_reward"], "margin": [0.0, 0.1],
        "form": [None, RowPosterior],
        "random_opening": [True, False], "warn": [False], "delta": [0.1], "beta_scale": [1.0, 5],
        "gain": [None, float],
        "covariance": [np.eye(3), [[2, 1], [1, 2]]], "problem": [PROBLEM],
        "policies": [{"u": UCB}], "measured": [""],
        "record_band": [False], "sd": [0.1, 0], "bound": [1.0], "lengthscale": [0.2, 1],
        "nu": [0.5, 2.5],
        "variance": [1.0, 3], "expected_reward": [HILL, HILL.tolist()],
        "noise": [None, kb.Gaussian(0.1)],
        "n_centres": [1, 3], "rewards": [np.ones((2, 3)), np.ones((2, 2)).tolist()],
        "norm_of": [None], "seed": [0, 5],
        "number": [0, 1], "statistic": [kb.mean_difference, lambda a, b: (a - b).mean(axis=-1)],
        "rng": [rng],
        "samples": [HILL, np.arange(12), [1.0, 2.0] * 6], "curves": [{"u": TRACE}],
        "mean": [0.0, HILL.tolist()], "bounds": [[(0, 1), (2, 5)]], "n": [1, 4],
        "d": [1, 2], "low": [0.0, -1], "high": [1.0, 2], "function": [float_of], "trials": [1, 2],
        "first": [0, 3], "block": [1, 2], "label": ["trials"], "kept_in": [None],
        "a": [HILL, HILL + 1], "b": [HILL - 3, [1.0] * 12],
        "arms": [True, False], "policy": [UCB(MODEL, 9)], "experiment": [EXPERIMENT],
        "curve": [TRACE],
        "successes": [[True, False], np.ones(4, bool)], "index": [HILL], "level": [0.9],
        "data": [{"a": HILL, "b": [1.0] * 12}, pd.DataFrame({"a": HILL, "b": -HILL})],
        "predicate": [lambda stats: stats["a"] < stats["b"]], "size": [1, 5, np.int64(2)],
        "paired": [True, False], "groups": [None, np.arange(12) % 4, list("aabbccddeeff")],
        "confidence_level": [0.9], "n_resamples": [100, 109],
    }  # fmt: skip


def float_of(trial):
    return {"number": float(trial.number)}


EXPERIMENT = kb.Experiment(kb.Known(PROBLEM), {"u": UCB, "mean": kb.MeanOnly}, 5)
#: Containers of what is returned, what takes them, and `played`, which reads a file.
WITHOUT = {"Estimate", "Curve", "played", "frame", "final_average_regret", "simple_regret"}
WITHOUT |= {"ReplicationProbability"}


def played(policy):
    for _ in range(2):
        policy.tell(policy.ask(), 0.5)
    return policy.posterior.mean, policy.posterior.sd


#: Numbers that come of what was made.
USES = {
    kb.Model: lambda model: played(UCB(model, 3)),
    kb.Policy: played,
    kb.GPDraw | kb.Rows | kb.RKHSFunction | kb.Known: (
        lambda source: source(kb.Trial(0, 1)).regret(np.arange(2))
    ),
    kb.Problem: lambda problem: problem.pull(0, np.random.default_rng(0)),
    kb.Experiment: lambda experiment: [
        trace.regret for trace in kb.run_trials(experiment, 1, 0).values()
    ],
    kb.Gaussian | kb.Uniform: lambda noise: noise(np.random.default_rng(0)),
    kb.Constant | kb.Srinivas2010 | kb.AbbasiYadkori2011 | kb.Chowdhury2017: lambda width: width(
        UCB(MODEL, 3)
    ),
    kb.Empirical: lambda kernel: kernel(kernel.points, kernel.points),
    kb.Matern | kb.SquaredExponential | kb.Linear | kb.Independent: lambda kernel: kernel(
        POINTS, POINTS
    ),
    kb.Trial: lambda trial: trial.rng("run").random(),
    ExactPosterior: lambda posterior: (posterior.update(0, 1.0), posterior.mean)[1],
    np.ndarray | kb.Estimate: np.asarray,
    kb.ReplicationProbability: lambda found: [found.probability, *found.confidence_interval],
}


CALLED = {"form", "function", "problem", "gain", "noise", "norm_of", "statistic", "width"}
CALLED |= {"predicate"}
NAMES = sorted(set(kb.__all__) - WITHOUT)


def arguments_of(name):
    found = dict(inspect.signature(getattr(kb, name)).parameters)
    if "settings" in found:  # what a policy hands on
        found |= inspect.signature(kb.UCB if name == "ThompsonSampling" else kb.Policy).parameters
        found |= {"random_opening": inspect.signature(IndexPolicy).parameters["random_opening"]}
    return {
        key: parameter
        for key, parameter in found.items()
        if parameter.kind != parameter.VAR_KEYWORD
    }


KNOWN = {key for name in NAMES for key in arguments_of(name)} | {
    "index",
    "arm",
    "observation",
    "X",
    "Z",
    "trial",
}
#: Well-formed values of parameters whose name means something else elsewhere.
OWN = {
    "Experiment": {"problem": [kb.Known(PROBLEM), kb.GPDraw(KERNEL, POINTS, 0.1)]},
    "replication_probability": {"statistic": [np.mean, np.median]},
    "Constant": {"width": [1.0, 2]},
}
#: Of these only the truth is asked.
FLAGS = {"arms", "record_band", "random_opening", "warn", "measured", "label", "paired"}


@pytest.mark.parametrize("name", NAMES)
def test_odd_values_give_finite_numbers_or_an_error_that_begins_with_the_name_of_an_argument(name):
    rng, n_accepted = np.random.default_rng([NAMES.index(name), 49]), 0
    for _ in range(50):
        fine, chosen, several = good(rng) | OWN.get(name, {}), {}, ()
        odd = rng.choice(list(arguments_of(name)), size=rng.integers(0, 3))
        for key, parameter in arguments_of(name).items():
            pool = fine[key]
            if key in odd and key not in FLAGS:  # a function of users may raise what it likes
                pool = [each for each in ODD if key not in CALLED or not callable(each)]
            value = pool[rng.integers(len(pool))]
            if parameter.kind == parameter.VAR_POSITIONAL:
                several = (value, fine[key][0])
            elif key in odd or parameter.default is parameter.empty or rng.random() < 0.5:
                chosen[key] = value
        called = {key: checks.shown(value) for key, value in chosen.items()}
        positional = [chosen.pop(key) for key in list(chosen)[: 1 if several else 0]]
        try:
            with np.errstate(all="ignore"):
                made = getattr(kb, name)(*positional, *several, **chosen)
                for kind, use in USES.items():
                    if isinstance(made, kind) and type(made) is not kb.Policy:
                        assert np.isfinite(use(made)).all(), (name, called, several, made)
            n_accepted += 1
        except (ValueError, TypeError, IndexError, MemoryError) as error:
            first = re.match(r"\w+", str(error))
            assert first and first[0] in KNOWN, (name, called, several, repr(error))
            assert len(str(error)) <= 300, str(error)
    assert n_accepted >= 5, "well-formed values must be taken, too"
