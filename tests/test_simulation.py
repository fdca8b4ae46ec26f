"""Rounds and trials: the same numbers however they are cut up and wherever they run; what is kept; the stopwatch."""

import os
import time
import warnings
from dataclasses import replace
from functools import partial
from weakref import WeakKeyDictionary

import joblib
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from kbrepro import simulation
from kbrepro.confidence import Bayes
from kbrepro.kernels import SquaredExponential, grid
from kbrepro.policies import UCB, ExpectedImprovement, MeanOnly, ProbabilityOfImprovement, VarianceOnly
from kbrepro.problems import GPDraw, Problem, Rows, Told, Trial
from kbrepro.regret import Trace
from kbrepro.simulation import Experiment, rounds, run_trials

SEED, TRIALS = 2010, 6


@pytest.fixture
def experiment():
    return Experiment(
        problem=GPDraw(SquaredExponential(0.2), grid(30), 0.025),
        policies={
            "GP-UCB/5": partial(UCB, width=Bayes(delta=0.1, divide_beta_by=5)),
            "EI": ExpectedImprovement,
            "MPI": partial(ProbabilityOfImprovement, margin=0.1),
            "mean only": MeanOnly,
            "variance only": VarianceOnly,
        },
        horizon=15,
    )


@pytest.fixture(autouse=True)
def quiet_and_uncached(monkeypatch):
    monkeypatch.setenv("TQDM_DISABLE", "1")
    monkeypatch.setenv("KBREPRO_JOBS", "1")
    monkeypatch.delenv("KBREPRO_CACHE", raising=False)


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("KBREPRO_CACHE", str(tmp_path / "kept"))
    # joblib takes one folder a process for granted: it would not write the function's source to a second one
    monkeypatch.setattr(joblib.memory, "_FUNCTION_HASHES", WeakKeyDictionary())
    return tmp_path / "kept"


def assert_same(one, other):
    """Everything but the seconds is equal to the last bit."""
    assert list(one) == list(other)
    for name in one:
        for part in ("arms", "observations", "regret"):
            np.testing.assert_array_equal(getattr(one[name], part), getattr(other[name], part), err_msg=name)


def seconds(traces):
    return np.array([trace.seconds.sum(axis=1) for trace in traces.values()]).T


class Scripted:
    """Pulls arms in turn, draws as it goes, writes down what happens, and may raise when told."""

    def __init__(self, told, horizon, log=None, draws=1, fails_in=None):
        self.t, self.told, self.fails_in, self.draws = 0, told, fails_in, draws
        self.log = [] if log is None else log

    def ask(self, rng):
        self.t += 1
        rng.random(self.draws)
        arm = 2 * self.t % self.told.n_arms
        self.log.append(("ask", arm))
        return arm

    def tell(self, arm, observation):
        if self.t == self.fails_in:
            raise RuntimeError("the policy has failed")
        self.log.append(("tell", arm, observation))


# One run


def test_a_run_is_ask_pull_tell(experiment):
    problem, log = experiment.problem(Trial(33, 0)), []
    trace = simulation.run(Scripted(problem.told, 4, log), problem, 4, np.random.default_rng(34))
    assert trace.arms.tolist() == [2, 4, 6, 8]
    pulls = zip(trace.arms.tolist(), trace.observations.tolist(), strict=True)
    assert log == [step for arm, y in pulls for step in (("ask", arm), ("tell", arm, y))]
    np.testing.assert_array_equal(trace.regret, problem.expected_reward.max() - problem.expected_reward[trace.arms])
    assert trace.seconds.shape == (4,) and (trace.seconds > 0).all()


@settings(max_examples=50, deadline=None, derandomize=True)
@given(horizon=st.integers(1, 20), n_arms=st.integers(1, 7), seed=st.integers(0, 10**6), data=st.data())
def test_rounds_yield_before_the_policy_is_told_and_end_where_it_raises(horizon, n_arms, seed, data):
    fails_in = data.draw(st.one_of(st.none(), st.integers(1, horizon)))
    problem = Problem(Told(grid(n_arms), SquaredExponential(0.2), 0.1), np.zeros(n_arms))
    policy, seen = Scripted(problem.told, horizon, fails_in=fails_in), []
    try:
        for t, arm, observation in rounds(policy, problem, horizon, np.random.default_rng(seed)):
            told = [step[1:] for step in policy.log if step[0] == "tell"]
            assert (t, told, policy.log[-1]) == (len(seen) + 1, seen, ("ask", arm))
            seen.append((arm, observation))
    except RuntimeError as failure:
        assert (str(failure), policy.t) == ("the policy has failed", fails_in)
    else:
        assert fails_in is None
    assert len(seen) == policy.t == (fails_in or horizon)  # nobody asks once more


def test_what_a_policy_draws_does_not_touch_the_noise(experiment):
    problem = experiment.problem(Trial(51, 0))
    few, many = (
        simulation.run(Scripted(problem.told, 10, draws=n), problem, 10, np.random.default_rng(52)) for n in (0, 7)
    )
    np.testing.assert_array_equal(few.observations, many.observations)
    assert len(np.unique(few.observations)) == 10


def test_the_last_number_of_an_observation_is_the_reward_that_is_kept():
    class Layers(Problem):
        def pull(self, arm, rng):
            return 7.0, self.expected_reward[arm]

    log, problem = [], Layers(Told(grid(4), SquaredExponential(0.2), 1.0), np.arange(4.0))
    trace = simulation.run(Scripted(problem.told, 6, log), problem, 6, np.random.default_rng(1))
    np.testing.assert_array_equal(trace.observations, [2, 0, 2, 0, 2, 0])
    assert log[1] == ("tell", 2, (7.0, 2.0))
    np.testing.assert_array_equal(trace.cumulative_regret, [1, 4, 5, 8, 9, 12])


def test_bad_horizon(experiment):
    with pytest.raises(ValueError, match="horizon = 0"):
        simulation.run(None, None, 0, None)
    with pytest.raises(ValueError, match="horizon = 0"):
        next(rounds(None, None, 0, None))
    with pytest.raises(ValueError, match=r"horizon = 1\.5"):
        replace(experiment, horizon=1.5)


# Trials


def test_shapes_and_order(experiment):
    traces = run_trials(experiment, TRIALS, SEED)
    assert list(traces) == list(experiment.policies)
    for trace in traces.values():
        assert {part.shape for part in trace} == {(TRIALS, 15)}
        assert (trace.regret >= 0).all()


def test_policies_of_a_trial_share_function_noise_and_first_arm(experiment):
    """Observation + regret = best reward + noise, whatever the arm: equal by round for all policies."""
    traces = run_trials(experiment, TRIALS, SEED)
    common = [trace.observations + trace.regret for trace in traces.values()]
    for other in common[1:]:
        np.testing.assert_allclose(other, common[0], rtol=0, atol=1e-12)
    assert len({tuple(trace.arms[:, 0]) for trace in traces.values()}) == 1
    assert len({trace.arms.tobytes() for trace in traces.values()}) == len(traces)
    firsts = next(iter(traces.values())).arms[:, 0]
    assert len(np.unique(firsts)) > 2


def test_noise_has_its_variance_and_differs_between_trials_and_rounds(experiment):
    """z-test of 12 trials of 15 rounds, error level 1e-4; lag-one and between-trial correlations within 4 s.e."""
    trace = run_trials(experiment, 12, SEED)["EI"]
    best = [experiment.problem(Trial(SEED, number)).expected_reward.max() for number in range(12)]
    noise = (trace.observations + trace.regret - np.array(best)[:, None]) / np.sqrt(0.025)
    assert abs(noise.mean()) < norm.isf(5e-5) / np.sqrt(noise.size)
    assert abs(noise.var() - 1) < 4 * np.sqrt(2 / noise.size)
    assert abs(np.mean(noise[:, 1:] * noise[:, :-1])) < 4 / np.sqrt(noise[:, 1:].size)
    assert abs(np.mean(noise[1:] * noise[:-1])) < 4 / np.sqrt(noise[1:].size)


def test_a_policy_does_not_depend_on_the_company_it_keeps(experiment):
    alone = replace(experiment, policies={"MPI": experiment.policies["MPI"]})
    assert_same(run_trials(alone, 3, SEED), {"MPI": run_trials(experiment, 3, SEED)["MPI"]})


def test_another_seed_gives_other_trials(experiment):
    one, other = (run_trials(experiment, 2, seed)["EI"].observations for seed in (SEED, SEED + 1))
    assert not np.isclose(one, other).any()


@pytest.mark.parametrize("block", [1, 2, 4, 6, 100])
def test_blocks_change_nothing(experiment, block):
    assert_same(run_trials(experiment, TRIALS, SEED, block=block), run_trials(experiment, TRIALS, SEED, block=3))


@pytest.mark.parametrize("block", [1, 3])
def test_first_picks_trials_by_number(experiment, block):
    whole = run_trials(experiment, TRIALS, SEED)
    part = run_trials(experiment, 3, SEED, first=2, block=block)
    assert_same(part, {name: Trace(*(p[2:5] for p in trace)) for name, trace in whole.items()})


def test_rows_follow_the_trial_number():
    """The trial number reaches the problem: trial n meets row n."""
    rewards = np.random.default_rng(35).standard_normal((8, 4))
    experiment = Experiment(Rows(np.eye(4), rewards, 0.1), {"EI": ExpectedImprovement}, 5)
    traces = run_trials(experiment, 3, SEED, first=4, block=2)["EI"]
    expected = rewards[4:7].max(axis=1, keepdims=True) - np.take_along_axis(rewards[4:7], traces.arms, axis=1)
    np.testing.assert_array_equal(traces.regret, expected)


def test_two_workers_give_the_numbers_of_one(experiment, monkeypatch):
    one = run_trials(experiment, TRIALS, SEED)
    monkeypatch.setenv("KBREPRO_JOBS", "2")
    assert_same(run_trials(experiment, TRIALS, SEED, block=2), one)


def test_joblib_decides_where_nothing_else_does(experiment, monkeypatch):
    one = run_trials(experiment, TRIALS, SEED)
    monkeypatch.delenv("KBREPRO_JOBS")
    with joblib.parallel_config(backend="threading", n_jobs=2):
        assert simulation._workers() is None
        assert_same(run_trials(experiment, TRIALS, SEED), one)


def test_without_any_word_all_processors_work(monkeypatch):
    monkeypatch.delenv("KBREPRO_JOBS")
    assert simulation._workers() == -1


@pytest.mark.parametrize("n_jobs", [1, 2, -1])
def test_an_enclosing_joblib_configuration_sets_the_number_of_workers(monkeypatch, n_jobs):
    monkeypatch.delenv("KBREPRO_JOBS")
    with joblib.parallel_config(n_jobs=n_jobs):
        assert joblib.Parallel(n_jobs=simulation._workers()).n_jobs == n_jobs


def test_a_dask_cluster_gives_the_same_numbers(experiment, monkeypatch):
    distributed = pytest.importorskip("distributed")
    one = run_trials(experiment, TRIALS, SEED)
    monkeypatch.delenv("KBREPRO_JOBS")
    where = dict(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", module=r"(dask|distributed|tornado|joblib)\b")
        with (
            distributed.LocalCluster(**where) as cluster,
            distributed.Client(cluster),
            joblib.parallel_config(backend="dask"),
        ):
            assert_same(run_trials(experiment, TRIALS, SEED, block=2), one)


@pytest.mark.parametrize("jobs", ["0", "-1", "two", "", "1.5"])
def test_bad_number_of_workers(experiment, monkeypatch, jobs):
    monkeypatch.setenv("KBREPRO_JOBS", jobs)
    with pytest.raises(ValueError, match=r"KBREPRO_JOBS = .* is not allowed: .* an integer of at least 1"):
        run_trials(experiment, 1, SEED)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"trials": 0}, "trials = 0"),
        ({"trials": 2, "block": 0}, "block = 0"),
        ({"trials": 2, "first": -1}, "first = -1"),
        ({"trials": 2, "seed": -5}, "seed = -5"),
    ],
)
def test_bad_settings_are_named(experiment, settings, message):
    with pytest.raises(ValueError, match=message):
        run_trials(experiment, **{"seed": SEED} | settings)


# What is kept


def test_without_a_cache_nothing_is_kept(experiment, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    one, other = (run_trials(experiment, 2, SEED) for _ in range(2))
    assert (seconds(one) != seconds(other)).any()
    assert os.listdir(tmp_path) == []


def test_kept_trials_are_used_again(experiment, cache):
    one, other = (run_trials(experiment, TRIALS, SEED, block=2) for _ in range(2))
    assert_same(one, other)
    np.testing.assert_array_equal(seconds(one), seconds(other))
    assert cache.is_dir()


def test_kept_trials_do_not_depend_on_the_workers(experiment, cache, monkeypatch):
    one = run_trials(experiment, TRIALS, SEED)
    monkeypatch.setenv("KBREPRO_JOBS", "2")
    np.testing.assert_array_equal(seconds(run_trials(experiment, TRIALS, SEED)), seconds(one))


def test_an_interrupted_run_resumes(experiment, cache, monkeypatch):
    half = run_trials(experiment, 3, SEED)
    resumed = run_trials(experiment, TRIALS, SEED)
    np.testing.assert_array_equal(seconds(resumed)[:3], seconds(half))
    monkeypatch.delenv("KBREPRO_CACHE")
    assert_same(resumed, run_trials(experiment, TRIALS, SEED))


@pytest.mark.parametrize("change", ["seed", "horizon", "policy", "problem"])
def test_other_settings_do_not_use_what_was_kept(experiment, cache, monkeypatch, change):
    run_trials(experiment, 2, SEED)
    seed = SEED + (change == "seed")
    changes = {
        "horizon": {"horizon": experiment.horizon + 1},
        "policy": {"policies": experiment.policies | {"MPI": partial(ProbabilityOfImprovement, margin=0.2)}},
        "problem": {"problem": replace(experiment.problem, noise_variance=0.5)},
    }
    changed = replace(experiment, **changes.get(change, {}))
    cached = run_trials(changed, 2, seed)
    monkeypatch.delenv("KBREPRO_CACHE")
    assert_same(cached, run_trials(changed, 2, seed))


def test_a_change_of_the_numeric_source_recomputes(experiment, cache, monkeypatch):
    one = run_trials(experiment, 2, SEED)
    monkeypatch.setattr(simulation, "digest", lambda names: "other source")
    other = run_trials(experiment, 2, SEED)
    assert_same(one, other)
    assert (seconds(one) != seconds(other)).all()


DAMAGE = {
    "a byte changed": lambda data: data[:-9] + bytes([data[-9] ^ 0xFF]) + data[-8:],
    "cut short": lambda data: data[: len(data) // 2],
    "empty": lambda data: b"",
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_entry_is_computed_again(experiment, cache, caplog, damage):
    one = run_trials(experiment, 2, SEED)
    entries = sorted(cache.rglob("output.pkl"))
    assert len(entries) == 2
    for entry in entries:
        entry.write_bytes(damage(entry.read_bytes()))
    other = run_trials(experiment, 2, SEED)
    assert "Exception while loading results" in caplog.text
    assert_same(one, other)
    assert (seconds(one) != seconds(other)).all()
    np.testing.assert_array_equal(seconds(run_trials(experiment, 2, SEED)), seconds(other))


def test_the_band_is_recorded_before_each_pull(experiment):
    ucb = replace(experiment, policies={"GP-UCB/5": experiment.policies["GP-UCB/5"]}, horizon=4)
    recorded = run_trials(replace(ucb, record_band=True), 2, SEED)["GP-UCB/5"]
    plain = run_trials(ucb, 2, SEED)["GP-UCB/5"]
    assert np.isnan(plain.band_ratio).all()
    np.testing.assert_array_equal(recorded.arms, plain.arms)
    for number in range(2):
        f, width = experiment.problem(Trial(SEED, number)).expected_reward, Bayes(0.1, 5).at(1, n_arms=30)
        assert recorded.band_ratio[number, 0] == pytest.approx(np.abs(f).max() / width, rel=1e-12)


def normal_numbers(trial, n):
    return trial.rng("run").standard_normal(n)


@pytest.mark.parametrize("block", [1, 2, 5])
def test_any_function_of_a_trial_can_be_mapped(block, cache):
    found = simulation.map_trials(partial(normal_numbers, n=3), 5, SEED, first=1, block=block)
    for number, values in enumerate(found, start=1):
        np.testing.assert_array_equal(values, normal_numbers(Trial(SEED, number), 3))
    assert len(found) == 5
    assert len(list(cache.rglob("output.pkl"))) == -(-5 // block)


# The stopwatch


class Sleeper(Scripted):
    """Sleeps before every pull from round 20 on, and before it is told of the pulls of rounds 30 to 34."""

    def ask(self, rng):
        if self.t >= 20:
            time.sleep(0.002)
        return super().ask(rng)

    def tell(self, arm, observation):
        if 30 <= self.t < 35:
            time.sleep(0.004)
        super().tell(arm, observation)


def test_the_seconds_say_which_rounds_are_slow():
    experiment = Experiment(GPDraw(SquaredExponential(0.2), grid(10), 1.0), {"sleeper": Sleeper}, 40)
    seconds = run_trials(experiment, 2, 41)["sleeper"].seconds
    assert seconds.shape == (2, 40) and (seconds[:, 20:] >= 0.002).all() and (seconds[:, 30:35] >= 0.006).all()
    # how long a round without sleep takes is the machine's business: it is less than one with it
    assert (np.median(seconds[:, :20], axis=1) < np.median(seconds[:, 20:], axis=1)).all()
