"""Policies that are saved, copied or told what was pulled go on as if nothing had happened."""

import copy
import inspect
import pickle
import types
from functools import partial

import numpy as np
import pytest
from test_fuzz import interrupted

from kbrepro.bandits.confidence import AbbasiYadkori2011, Constant, Srinivas2010
from kbrepro.bandits.kernels import Matern, grid
from kbrepro.bandits.policies import UCB, ExpectedImprovement, ThompsonSampling
from kbrepro.bandits.posterior import CovariancePosterior, DistinctPosterior, LatticePosterior
from kbrepro.bandits.problems import RKHSFunction, Trial
from kbrepro.papers.bkb.since import MiniUCB
from kbrepro.papers.gp_ucb.since import GPEIMS, IRGPUCB
from kbrepro.papers.gpn_ucb.cascade_ei import ExactCascadeEI, SampledCascadeEI
from kbrepro.papers.gpn_ucb.policies import GPNUCB, CascadeUCB, OptimisticImprovement, black_box_ei
from kbrepro.papers.gpn_ucb.problems import KERNEL, RandomNetwork, exact_chain
from kbrepro.papers.gpn_ucb.sets import MultiOutput
from kbrepro.papers.igp_ucb.noise import RandomArms
from kbrepro.papers.pi_gp_ucb.partition import PartitionedUCB
from kbrepro.papers.side_by_side.field import field

PLAIN = RKHSFunction(Matern(0.3, nu=1.5), grid(6, 2), 0.05, norm=2.0)(Trial(5, 0))
UNEVEN = RKHSFunction(
    Matern(0.3, nu=1.5), np.random.default_rng(1).random((36, 2)), 0.05, norm=2.0
)(Trial(5, 0))
CHAIN = exact_chain(6)(Trial(5, 2))
VECTOR = RandomNetwork(MultiOutput(KERNEL), grid(20, 1, -2, 2), (2, 2, 1))(Trial(5, 3))
POLICIES = {
    **{
        name: (entry.make, PLAIN if entry.grid else UNEVEN)
        for name, entry in field(0.1, nu=1.5).items()
    },
    "GP-UCB, covariance": (partial(UCB, width=Srinivas2010(0.1), form=CovariancePosterior), PLAIN),
    "GP-UCB, one row an arm": (
        partial(UCB, width=Srinivas2010(0.1), form=DistinctPosterior),
        UNEVEN,
    ),
    "GP-UCB, lattice": (partial(UCB, width=Srinivas2010(0.1), form=LatticePosterior), PLAIN),
    "GP-TS, lattice": (
        partial(ThompsonSampling, width=Constant(1.0), form=LatticePosterior),
        PLAIN,
    ),
    "EI, random opening": (partial(ExpectedImprovement, random_opening=True), PLAIN),
    "mini-GP-UCB": (partial(MiniUCB, width=AbbasiYadkori2011(0.1), squared_c=2.0), UNEVEN),
    "GP-EIMS": (GPEIMS, UNEVEN),
    "IRGP-UCB": (IRGPUCB, UNEVEN),
    "random arms": (RandomArms, PLAIN),
    "π-GP-UCB, thesis": (partial(PartitionedUCB, delta=0.1, nu=1.5, variant="thesis"), PLAIN),
    "GPN-UCB": (GPNUCB, CHAIN),
    "GPN-UCB, outward": (partial(GPNUCB, outward=True, n_grid=80), CHAIN),
    "GPN-UCB, balls": (partial(GPNUCB, n_grid=9), VECTOR),
    "cUCB": (CascadeUCB, CHAIN),
    "OI": (OptimisticImprovement, CHAIN),
    "cEI, exact": (ExactCascadeEI, CHAIN),
    "cEI": (partial(SampledCascadeEI, samples=20), CHAIN),
    "black box": (black_box_ei, CHAIN),
}
#: What draws besides the order of ties, and what must be saved: arms, rewards and the generator do
#: not do.
DRAW = {"GP-TS", "PIMS", "GP-EIMS", "IRGP-UCB", "uniform play", "random arms", "cEI"}
MUST_BE_SAVED = {
    "BKB",
    "mini-GP-UCB",
    "SupKernelUCB",
    "SupKernelUCB, tuned",
    "GP-TS, lattice",
    "π-GP-UCB",
    "π-GP-UCB, tighter",
    "π-GP-UCB, thesis",
    "GPN-UCB",
    "GPN-UCB, outward",
    "GPN-UCB, balls",
}


def goes_on(policy, problem, rounds, noise):
    """Play on with this generator of the noise; return the arms."""
    pulled = []
    for _ in range(rounds):
        pulled.append(policy.ask())
        policy.tell(pulled[-1], problem.pull(pulled[-1], noise))
    return pulled


def play(name, rounds):
    """A policy after so many rounds, the generator of its noise, and arms."""
    make, problem = POLICIES[name]
    policy, noise = make(problem.model, 30, rng=7), np.random.default_rng(8)
    return policy, problem, noise, goes_on(policy, problem, rounds, noise)


@pytest.mark.parametrize("name", POLICIES)
def test_a_saved_policy_goes_on_as_if_nothing_had_happened(name):
    """Of copies the test of interrupts says the same."""
    for rounds in (0, 6):
        policy, problem, noise, _ = play(name, rounds)
        again, same_noise = pickle.loads(pickle.dumps([policy, noise]))
        assert goes_on(again, problem, 5, same_noise) == goes_on(policy, problem, 5, noise)


@pytest.mark.parametrize("name", POLICIES)
def test_told_the_same_arms_and_rewards_a_rule_goes_on_with_the_same_arms(name):
    """Unless it says that it must be saved; a rule that draws needs its generator's state, too."""
    if name in MUST_BE_SAVED:
        pytest.skip("must be saved")
    make, problem = POLICIES[name]
    policy, _, noise, pulled = play(name, 8)
    told, seen = make(problem.model, 30, rng=7), np.random.default_rng(8)
    for arm in pulled:
        told.tell(arm, problem.pull(arm, seen))
    assert seen.bit_generator.state == noise.bit_generator.state
    told.rng = copy.deepcopy(policy.rng) if name in DRAW else np.random.default_rng(99)
    before = told.rng.bit_generator.state
    assert goes_on(told, problem, 9, copy.deepcopy(noise)) == goes_on(policy, problem, 9, noise)
    if name not in DRAW:
        assert told.rng.bit_generator.state == before  # not even an order of ties


def public(thing):
    """Names and values of attributes that are no functions."""
    functions = types.FunctionType, classmethod, staticmethod
    for name in (name for name in dir(thing) if not name.startswith("_")):
        if not isinstance(inspect.getattr_static(type(thing), name, None), functions):
            try:
                yield name, getattr(thing, name)
            except (ValueError, AttributeError):  # no norm, no reward yet
                continue


def state(thing):
    """What an object shows in numbers, and what the objects in it do; its generator included."""
    if isinstance(thing, int | float | np.ndarray):
        return thing
    if isinstance(thing, tuple | list):
        return [state(part) for part in thing]
    if not type(thing).__module__.startswith("kbrepro"):
        return None
    rng = getattr(thing, "rng", None)
    shown = {name: state(value) for name, value in public(thing) if name not in ("model", "kernel")}
    return shown | {"drawn": rng and rng.bit_generator.state}


@pytest.mark.parametrize("name", POLICIES)
def test_an_interrupt_leaves_a_policy_as_it_was_or_told_all(name):
    """At lines of one `tell`, and then of putting it back."""
    policy, problem, noise, _ = play(name, 6)
    arms = [policy.ask()]
    if not hasattr(policy, "_arm"):  # else it takes only what it asked for
        arms += [3, 12, 3]
    pulls = arms, [problem.pull(arm, noise) for arm in arms]
    told = copy.deepcopy(policy)
    told.tell(*pulls)
    before, after = state(policy), state(told)
    right = goes_on(told, problem, 3, copy.deepcopy(noise))
    for line in np.geomspace(3, 2000, 14).astype(int).tolist():
        again = copy.deepcopy(policy)
        interrupted(partial(again.tell, *pulls), line)
        interrupted(lambda: again.t, line)  # noqa: B023  called at once
        if len(again.history.arms) == len(policy.history.arms):
            np.testing.assert_equal(state(again), before)
            again.tell(*pulls)
        np.testing.assert_equal(state(again), after)
        assert goes_on(again, problem, 3, copy.deepcopy(noise)) == right
