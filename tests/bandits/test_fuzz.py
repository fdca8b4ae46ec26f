"""Random models, rules and calls against a Gaussian process that is written out here.

It answers by one dense solve a question, and nothing of it comes from the package.
"""

import copy
import inspect
import pickle
import sys
import textwrap
from functools import partial

import numpy as np
import pytest
from scipy.stats import norm

import kbrepro as kb
from kbrepro.bandits.policies.base import AskTell, Policy
from kbrepro.bandits.posterior import (
    AfterPending,
    CovariancePosterior,
    DistinctPosterior,
    ExactPosterior,
    LatticePosterior,
    RowPosterior,
)

#: What warns of random rewards and lengthscales.
QUIET = ("ignore:.*rewards? .* standard deviations", "ignore:kernel = .* has no correlation")

# The reference

CORRELATIONS = {
    "SE": lambda r: np.exp(-(r**2) / 2),
    0.5: lambda r: np.exp(-r),
    1.5: lambda r: (1 + 3**0.5 * r) * np.exp(-(3**0.5) * r),
    2.5: lambda r: (1 + 5**0.5 * r + 5 * r**2 / 3) * np.exp(-(5**0.5) * r),
    "equal": lambda r: 1.0 * (r == 0),
}


class Dense:
    """A Gaussian process of prior mean (A,) and covariance K (A, A).

    `told` are (arm, reward, noise variance, or None for `noise`).
    """

    def __init__(self, K, mean, noise, told=()):
        self.K, self.prior, self.noise, self.told = K, np.zeros(len(K)) + mean, noise, list(told)
        self.unit = np.sqrt(K.diagonal().max())

    @np.errstate(all="ignore")
    def after(self, pending=()):
        """Mean and sd after pulls whose rewards are their means so far, and the covariance."""
        arms = [arm for arm, *_ in self.told] + [*pending]
        noises = [noise or self.noise for *_, noise in self.told]
        noises = np.array(noises + [self.noise] * len(pending))
        to = self.K[:, arms]
        solved = np.linalg.solve(to[arms] + np.diag(noises), to.T)
        left = self.K - to @ solved
        n = len(self.told)
        off = np.array([reward for _, reward, _ in self.told]) - self.prior[arms[:n]]
        mean = self.prior + to[:, :n] @ np.linalg.solve(to[arms[:n], :n] + np.diag(noises[:n]), off)
        sd = np.sqrt(np.maximum(left.diagonal(), 0.0))
        return mean, sd, np.bincount(arms, minlength=len(mean))

    @np.errstate(all="ignore")
    def index(self, rule, width, margin, pending):
        """What the rule makes largest, and its unit; None of a rule that draws."""
        mean, sd, counts = self.after(pending)
        target = mean[counts > 0].max(initial=-np.inf) if counts.any() else mean.max()
        if rule == "EI":
            z = (mean - target) / sd
            improvement = np.where(z > -5, sd * (norm.pdf(z) + z * norm.cdf(z)), 0.0)
            known = sd < 1e-6 * self.unit
            return np.log(np.where(known, np.maximum(mean - target, 0), improvement)), 1.0
        z = (mean - target - margin) / np.maximum(sd, 1e-12 * self.unit)
        indices = {"UCB": (mean + width * sd, self.unit), "variance": (sd**2, self.unit**2)}
        return (indices | {"mean": (mean, self.unit), "PI": (z, 1.0)}).get(rule)


# What is drawn

RULES = {"UCB": kb.UCB, "EI": kb.ExpectedImprovement, "PI": kb.ProbabilityOfImprovement}
RULES |= {"variance": kb.VarianceOnly, "mean": kb.MeanOnly}
RULES |= {"TS": kb.ThompsonSampling, "PIMS": kb.PIMS}
BATCHES = {"UCB", "EI", "variance", "TS", "PIMS"}


def points_of(rng):
    """Arms: random, on a lattice, repeated, nearly so, or constant on an axis; and if on a
    lattice.
    """
    d, scale = int(rng.integers(1, 4)), 10.0 ** rng.uniform(-2, 2)
    kind = rng.choice(["random", "lattice", "repeated", "near", "constant"])
    if kind == "lattice":
        return scale * kb.grid(int(rng.integers(2, [20, 5, 3][d - 1])), d), True
    X = rng.random((int(rng.integers(2, 20)), d))
    if kind == "repeated":
        X = X[rng.integers(0, len(X), len(X) + 3)]
    if kind == "near":
        X = np.concatenate([X, X[:3] + 1e-9 * rng.standard_normal(X[:3].shape)])
    if kind == "constant":
        X[:, 0] = 0.5
    return scale * X, False


def model_of(rng, X):
    """A model of these arms, and the reference."""
    kind, variance = rng.choice([*CORRELATIONS, "linear"]), 10.0 ** rng.uniform(-2, 2)
    extent = np.ptp(X, axis=0).max() or 1.0
    scale = extent * rng.uniform(0.1, 1.0, X.shape[1])
    if rng.random() < 0.5:
        scale = np.full(X.shape[1], scale[0])
    r = np.sqrt((((X[:, None] - X) / scale) ** 2).sum(axis=-1))
    lengthscale = float(scale[0]) if np.ptp(scale) == 0 else tuple(scale)
    if kind == "linear":
        variance /= extent**2
        kernel, K = kb.Linear(variance), variance * X @ X.T
    elif kind == "equal":
        kernel, K = kb.Independent(variance), variance * CORRELATIONS["equal"](r)
    elif kind == "SE":
        kernel, K = kb.SquaredExponential(lengthscale, variance), variance * CORRELATIONS["SE"](r)
    else:
        kernel = kb.Matern(lengthscale, float(kind), variance)
        K = variance * CORRELATIONS[float(kind)](r)
    unit = max(K.diagonal().max(), 1e-12) ** 0.5
    noise = unit**2 * 10.0 ** rng.uniform(-3, 1)
    mean = unit * [0.0, rng.standard_normal(), rng.standard_normal(len(X))][rng.integers(3)]
    return kb.Model(X, kernel, noise, mean=mean), Dense(K, mean, noise)


def subset(rng, A):
    """Some arms as numbers or a mask, and as numbers."""
    arms = np.flatnonzero(rng.random(A) < rng.uniform(0.1, 0.9))
    arms = arms if len(arms) else rng.integers(0, A, 1)
    mask = np.isin(np.arange(A), arms)
    return [arms, arms.tolist(), mask, mask.astype(int) if A > 2 else mask][rng.integers(4)], arms


def assert_within(most, found, right):
    """As numpy.testing, whose functions would take a third of the time."""
    assert found.shape == right.shape and (abs(found - right) <= most).all(), (found, right)


def interrupted(call, line):
    """Call, and be interrupted at that line of the package, if it has so many."""

    def trace(frame, event, _):
        nonlocal line
        if "kbrepro" not in frame.f_code.co_filename:
            return None
        line -= event == "line"
        if event == "line" and line == 0:
            raise KeyboardInterrupt
        return trace

    others = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    except KeyboardInterrupt:
        pass
    finally:
        sys.settrace(others)


class Sequence:
    """A policy, its reference, and random calls of both."""

    def __init__(self, *seed):
        rng = self.rng = np.random.default_rng(seed)
        X, lattice = points_of(rng)
        self.model, self.dense = model_of(rng, X)
        self.rule, self.width = str(rng.choice(list(RULES))), rng.uniform(0.5, 4.0)
        self.margin = 0.1 * self.dense.unit
        make = partial(RULES[self.rule], rng=int(rng.integers(99)))
        if self.rule in ("UCB", "TS"):
            make = partial(make, width=kb.Constant(self.width))
        if self.rule == "PI":
            make = partial(make, margin=self.margin)
        forms = [None, CovariancePosterior]
        if self.rule not in ("TS", "PIMS"):
            forms += [DistinctPosterior, RowPosterior]
        if lattice and getattr(self.model.kernel, "stationary", False):
            forms.append(LatticePosterior)
        form = forms[rng.integers(len(forms))]
        make = partial(make, form=form) if form else make
        self.policy = make(self.model, [None, 5, 60][rng.integers(3)])

    def tell(self):
        rng, n = self.rng, int(self.rng.integers(1, 5))
        arms, noises = rng.integers(0, self.model.n_arms, n), [None] * n
        rewards = self.dense.prior[arms] + self.dense.unit * rng.standard_normal(n)
        given = {}
        if (kind := rng.integers(3)) == 1:
            noises = [self.dense.noise * 10.0 ** rng.uniform(-1, 1)] * n
            given = {"noise_variance": noises[0]}
        elif kind == 2:
            noises = (self.dense.noise * 10.0 ** rng.uniform(-1, 1, n)).tolist()
            noises[0] = [None, noises[0]][rng.integers(2)]
            given = {"noise_variance": noises}
        if n == 1 and kind < 2:
            reward = [rewards[0], float(rewards[0]), rewards][rng.integers(3)]
            tell = partial(self.policy.tell, int(arms[0]), reward, **given)
        else:
            form = [list, tuple, np.asarray][rng.integers(3)]
            tell = partial(self.policy.tell, form(arms), form(rewards), **given)
        new = [*zip(arms.tolist(), rewards.tolist(), noises, strict=True)]
        if rng.random() < 0.2:
            interrupted(tell, int(rng.integers(1, 60 * n)))
            interrupted(lambda: self.policy.posterior, int(rng.integers(1, 60)))
            if len(self.policy.history.arms) > len(self.dense.told):
                self.dense.told += new
                return
            self.check()
        tell()
        self.dense.told += new

    def ask(self):
        rng, A, given, n = self.rng, self.model.n_arms, {}, 1
        allowed, pending = np.arange(A), []
        if rng.random() < 0.5:
            given["allowed"], allowed = subset(rng, A)
        if self.rule in BATCHES:
            n = int(rng.integers(1, 4))
            if (kind := rng.integers(4)) == 1:
                given["pending"], numbers = subset(rng, A)
                pending = numbers.tolist()
            elif kind > 1 and A > 4:
                given["pending"] = pending = rng.integers(0, A, rng.integers(0, 4)).tolist()
        asked = self.policy.ask(n, **given)
        for arm in asked if n > 1 else [asked]:
            assert type(arm) is int and arm in allowed
            if found := self.dense.index(self.rule, self.width, self.margin, pending):
                index, unit = found
                top = index[allowed].max()
                least = top if np.isinf(top) else top - 1e-6 * (unit + abs(top))
                assert index[arm] >= least, (self.rule, arm, index[arm], top)
            pending = [*pending, arm]

    def recommend(self):
        given, allowed = subset(self.rng, self.model.n_arms)
        mean, sd, _ = self.dense.after()
        best = self.policy.recommend(allowed=given)
        assert best in allowed and mean[best] >= mean[allowed].max() - 1e-7 * self.dense.unit
        others = allowed[allowed != best]
        upper = (mean + self.width * sd)[others].max(initial=-np.inf)
        gap = self.policy.gap(kb.Constant(self.width), allowed=given)
        assert abs(gap - max(upper - (mean - self.width * sd)[best], 0.0)) < 1e-6 * self.dense.unit

    def save(self):
        pickled = lambda its: pickle.loads(pickle.dumps(its))  # noqa: E731
        self.policy = [copy.deepcopy, copy.copy, pickled][self.rng.integers(3)](self.policy)

    def with_model(self):
        X, lattice = self.model.points, self.policy.form is LatticePosterior
        if self.rng.random() < 0.3 and not lattice:
            X = np.concatenate([X, X[:1] + self.rng.random((2, X.shape[1]))])
        model, dense = model_of(self.rng, X)
        if lattice and not getattr(model.kernel, "stationary", False):
            return
        if 0.3 < dense.unit / self.dense.unit < 3:  # else the noise that was told may be too small
            dense.told = self.dense.told
            self.policy, self.model, self.dense = self.policy.with_model(model), model, dense

    def check(self):
        mean, sd, counts = self.dense.after()
        unit, posterior, told = self.dense.unit, self.policy.posterior, self.dense.told
        largest = max([unit, *(abs(y - self.dense.prior[arm]) for arm, y, _ in told)])
        assert_within(1e-7 * largest, posterior.mean, mean)
        assert_within(1e-7 * unit**2, posterior.variance, sd**2)
        assert_within(0, posterior.counts, counts)
        weights = [1 / (noise or self.dense.noise) for *_, noise in told]
        arms = np.array([arm for arm, *_ in told], dtype=int)
        precision = np.bincount(arms, weights, len(mean))
        assert_within(1e-9 * precision, posterior.precision, precision)
        assert list(zip(*self.policy.history, strict=True)) == told
        assert self.policy.t == len(told) + 1

    def play(self, calls=8):
        possible = [self.tell, self.tell, self.ask, self.ask]
        possible += [self.recommend, self.save, self.with_model]
        for call in self.rng.choice(len(possible), calls):
            possible[call]()
            self.check()


def played(*seed):
    with np.errstate(all="raise"):
        Sequence(*seed).play()


@pytest.fixture(params=[False, True], ids=["", "changes early"])
def changes_early(request, monkeypatch):
    """Forms change with the first pulls, as those of many arms do later."""
    if request.param:
        monkeypatch.setattr("kbrepro.bandits.posterior.FEW", 1)
        monkeypatch.setattr("kbrepro.bandits.policies.thompson.FEW", 1)


@pytest.mark.filterwarnings(*QUIET)
@pytest.mark.parametrize("part", range(4))
def test_random_sequences_of_calls_are_as_the_dense_process(part, changes_early):
    for number in range(100):
        played(65, part, number)


@pytest.mark.slow
@pytest.mark.filterwarnings(*QUIET)
@pytest.mark.parametrize("part", range(4, 20))
def test_many_random_sequences_of_calls_are_as_the_dense_process(part, changes_early):
    for number in range(100):
        played(65, part, number)


# Is it awake?

#: Wrong variants: where, which function, what stands there, and what is written instead.
MUTANTS = {
    "pending noise doubled": (AfterPending, "pull", "self.noise", "2 * self.noise"),
    "pending counts dropped": (AfterPending, "pull", "_counts[arm] += 1", "_counts[arm] += 0"),
    "weights of noise variances off": (ExactPosterior, "update", "[arm] += more", "[arm] += 1"),
    "gap without allowed": (Policy, "gap", '"allowed", allowed', '"allowed", None'),
    "with_model without noise variances": (
        AskTell,
        "with_model",
        "noise_variance=noise",
        "noise_variance=None",
    ),
    "interrupted and not put back": (
        AskTell,
        "tell",
        'self.__dict__ = {"_before": (before, state, n)}',
        "pass",
    ),
    "zeros and ones pending are arms": (
        AskTell,
        "ask",
        "pending, least=0",
        "pending, least=0, flags=False",
    ),
}


def mutated(owner, name, old, new):
    """The function with another text."""
    source = inspect.getsource(getattr(vars(owner)[name], "fget", vars(owner)[name]))
    assert old in source, f"{owner.__name__}.{name} has no {old!r} any more: name another text"
    scope = dict(vars(sys.modules[owner.__module__]))
    exec(textwrap.dedent(source.replace(old, new)), scope)
    return scope[name]


@pytest.mark.filterwarnings(*QUIET)
@pytest.mark.parametrize("name", MUTANTS)
def test_a_wrong_variant_is_seen(name, monkeypatch):
    monkeypatch.setattr(*MUTANTS[name][:2], mutated(*MUTANTS[name]))
    with pytest.raises(AssertionError):
        for number in range(400):
            played(65, number // 100, number % 100)
