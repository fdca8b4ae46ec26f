"""Rounds and trials: the same numbers however they are cut up and wherever they run; the stopwatch."""

import time
import warnings
from dataclasses import replace
from functools import partial

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
from kbrepro.problems import GPDraw, Model, Problem, Rows, Trial
from kbrepro.regret import Trace, log_spaced
from kbrepro.simulation import Experiment, observations, rounds, run_trials

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
def quiet_and_nothing_kept(monkeypatch):
    monkeypatch.setenv("TQDM_DISABLE", "1")
    monkeypatch.setenv("KBREPRO_JOBS", "1")
    monkeypatch.delenv("KBREPRO_STORE", raising=False)


def assert_same(one, other):
    """Everything but the seconds is equal to the last bit."""
    assert list(one) == list(other)
    for name in one:
        for part in ("arms", "gaps", "regret"):
            np.testing.assert_array_equal(getattr(one[name], part), getattr(other[name], part), err_msg=name)


class Scripted:
    """Pulls arms in turn, draws as it goes, writes down what happens, and may raise when told."""

    def __init__(self, model, horizon, log=None, draws=1, fails_in=None):
        self.t, self.model, self.fails_in, self.draws = 0, model, fails_in, draws
        self.log = [] if log is None else log

    def ask(self, rng):
        self.t += 1
        rng.random(self.draws)
        arm = 2 * self.t % self.model.n_arms
        self.log.append(("ask", arm))
        return arm

    def tell(self, arm, observation):
        if self.t == self.fails_in:
            raise RuntimeError("the policy has failed")
        self.log.append(("tell", arm, observation))


# One run


def test_a_run_is_ask_pull_tell(experiment):
    problem, log = experiment.problem(Trial(33, 0)), []
    trace = simulation.run(Scripted(problem.model, 4, log), problem, 4, np.random.default_rng(34))
    assert trace.arms.tolist() == [2, 4, 6, 8]
    pulls = zip(trace.arms.tolist(), observations(problem, trace.arms, np.random.default_rng(34)), strict=True)
    assert log == [step for arm, y in pulls for step in (("ask", arm), ("tell", arm, y))]
    np.testing.assert_array_equal(trace.regret, problem.expected_reward.max() - problem.expected_reward[trace.arms])
    assert trace.seconds.shape == (4,) and (trace.seconds > 0).all()


@settings(max_examples=50, deadline=None, derandomize=True)
@given(horizon=st.integers(1, 20), n_arms=st.integers(1, 7), seed=st.integers(0, 10**6), data=st.data())
def test_rounds_yield_before_the_policy_is_told_and_end_where_it_raises(horizon, n_arms, seed, data):
    fails_in = data.draw(st.one_of(st.none(), st.integers(1, horizon)))
    problem = Problem(Model(grid(n_arms), SquaredExponential(0.2), 0.1), np.zeros(n_arms))
    policy, seen = Scripted(problem.model, horizon, fails_in=fails_in), []
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
        simulation.run(Scripted(problem.model, 10, draws=n), problem, 10, np.random.default_rng(52)) for n in (0, 7)
    )
    np.testing.assert_array_equal(few.arms, many.arms)
    seen = observations(problem, few.arms, np.random.default_rng(52))
    assert len(np.unique(seen)) == 10


def test_an_observation_may_have_several_numbers():
    class Layers(Problem):
        def pull(self, arm, rng):
            return 7.0, self.expected_reward[arm]

    log, problem = [], Layers(Model(grid(4), SquaredExponential(0.2), 1.0), np.arange(4.0))
    trace = simulation.run(Scripted(problem.model, 6, log), problem, 6, np.random.default_rng(1))
    assert observations(problem, trace.arms, np.random.default_rng(1)) == [(7.0, y) for y in [2, 0, 2, 0, 2, 0]]
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
        assert [part.shape for part in trace] == [(TRIALS, 15), (TRIALS, 30), (TRIALS, 15), (TRIALS, 1)]
        assert (trace.regret >= 0).all()


def seen_by(experiment, trace, trials):
    """The observations of many trials, drawn again, (trials, T)."""
    found = []
    for number in range(trials):
        trial = Trial(SEED, number)
        found.append(observations(experiment.problem(trial), trace.arms[number], trial.rng("run")))
    return np.array(found)


def test_policies_of_a_trial_share_function_noise_and_first_arm(experiment):
    """Observation + regret = best reward + noise, whatever the arm: equal by round for all policies."""
    told = {name: [] for name in experiment.policies}

    def listening(make, log):
        def policy(model, horizon):
            its = make(model, horizon)
            tell = its.tell
            its.tell = lambda arm, y: (log.append(y), tell(arm, y))
            return its

        return policy

    heard = {name: listening(make, told[name]) for name, make in experiment.policies.items()}
    traces = run_trials(replace(experiment, policies=heard), TRIALS, SEED)
    common = [np.reshape(told[name], (TRIALS, 15)) + trace.regret for name, trace in traces.items()]
    for other in common[1:]:
        np.testing.assert_allclose(other, common[0], rtol=0, atol=1e-12)
    for name, trace in traces.items():  # what policies were told is what is drawn again
        np.testing.assert_array_equal(seen_by(experiment, trace, TRIALS), np.reshape(told[name], (TRIALS, 15)))
    assert len({tuple(trace.arms[:, 0]) for trace in traces.values()}) == 1
    assert len({trace.arms.tobytes() for trace in traces.values()}) == len(traces)
    firsts = next(iter(traces.values())).arms[:, 0]
    assert len(np.unique(firsts)) > 2


def test_noise_has_its_variance_and_differs_between_trials_and_rounds(experiment):
    """z-test of 12 trials of 15 rounds, error level 1e-4; lag-one and between-trial correlations within 4 s.e."""
    trace = run_trials(experiment, 12, SEED)["EI"]
    best = [experiment.problem(Trial(SEED, number)).expected_reward.max() for number in range(12)]
    noise = (seen_by(experiment, trace, 12) + trace.regret - np.array(best)[:, None]) / np.sqrt(0.025)
    assert abs(noise.mean()) < norm.isf(5e-5) / np.sqrt(noise.size)
    assert abs(noise.var() - 1) < 4 * np.sqrt(2 / noise.size)
    assert abs(np.mean(noise[:, 1:] * noise[:, :-1])) < 4 / np.sqrt(noise[:, 1:].size)
    assert abs(np.mean(noise[1:] * noise[:-1])) < 4 / np.sqrt(noise[1:].size)


def test_a_policy_does_not_depend_on_the_company_it_keeps(experiment):
    alone = replace(experiment, policies={"MPI": experiment.policies["MPI"]})
    one, other = run_trials(alone, 3, SEED)["MPI"], run_trials(experiment, 3, SEED)["MPI"]
    np.testing.assert_array_equal(one.arms, other.arms)
    np.testing.assert_array_equal(one.regret, other.regret)


def test_another_seed_gives_other_trials(experiment):
    one, other = (run_trials(experiment, 2, seed)["variance only"].regret for seed in (SEED, SEED + 1))
    assert np.isclose(one, other).mean() < 0.1


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


# Bands, and other jobs


def test_a_policy_without_a_band_cannot_record_one(experiment):
    policies = {"EI": ExpectedImprovement}
    with pytest.raises(TypeError, match="record_band = True is not allowed: ExpectedImprovement has no band_ratio"):
        run_trials(replace(experiment, policies=policies, record_band=True), 1, SEED)


def test_the_band_is_recorded_before_each_pull(experiment):
    ucb = replace(experiment, policies={"GP-UCB/5": experiment.policies["GP-UCB/5"]}, horizon=4)
    recorded = run_trials(replace(ucb, record_band=True), 2, SEED)["GP-UCB/5"]
    plain = run_trials(ucb, 2, SEED)["GP-UCB/5"]
    assert plain.band_ratio.shape == (2, 1) and np.isnan(plain.band_ratio).all()
    np.testing.assert_array_equal(recorded.arms, plain.arms)
    for number in range(2):
        f, width = experiment.problem(Trial(SEED, number)).expected_reward, Bayes(0.1, 5).at(1, n_arms=30)
        assert recorded.band_ratio[number, 0] == pytest.approx(np.abs(f).max() / width, rel=1e-12)


def normal_numbers(trial, n):
    return trial.rng("run").standard_normal(n)


@pytest.mark.parametrize("block", [1, 2, 5])
def test_any_function_of_a_trial_can_be_mapped(block):
    found = simulation.map_trials(partial(normal_numbers, n=3), 5, SEED, first=1, block=block)
    for number, values in enumerate(found, start=1):
        np.testing.assert_array_equal(values, normal_numbers(Trial(SEED, number), 3))
    assert len(found) == 5


def test_the_band_is_the_worst_since_the_round_before_that_is_kept():
    """Of 3000 rounds about 100 numbers are kept: their maximum is that of all rounds, from round 10 on too."""
    source = GPDraw(SquaredExponential(0.2), grid(20), 0.5)
    problem, whole = source(Trial(3, 0)), []
    policy = UCB(problem.model, 3000, width=Bayes(0.1))
    for _ in rounds(policy, problem, 3000, Trial(3, 0).rng("run")):
        whole.append(policy.band_ratio(problem.expected_reward))
    found = simulation.run(UCB(problem.model, 3000, width=Bayes(0.1)), problem, 3000, Trial(3, 0).rng("run"), True)
    at = log_spaced(3000)
    expected = [max(whole[low:high]) for low, high in zip([0, *at[:-1]], at, strict=True)]
    np.testing.assert_array_equal(found.band_ratio, expected)
    assert at[8] == 9 and found.band_ratio[9:].max() == max(whole[9:])


def test_total_regrets_are_sums_of_what_traces_have(experiment):
    found = simulation.total_regrets(experiment, [15, 5], 3, SEED)
    traces = run_trials(experiment, 3, SEED)
    assert list(found) == [15, 5]
    for t, panel in found.items():
        for name, lost in panel.items():
            np.testing.assert_allclose(lost, traces[name].regret[:, :t].sum(axis=1), rtol=1e-15)


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
    trace = run_trials(experiment, 2, 41)["sleeper"]
    seconds = trace.seconds
    np.testing.assert_array_equal(trace.seconds_a_round, seconds)  # forty rounds are fewer than a hundred
    assert seconds.shape == (2, 40) and (seconds[:, 20:] >= 0.002).all() and (seconds[:, 30:35] >= 0.006).all()
    # how long a round without sleep takes is the machine's business: it is less than one with it
    assert (np.median(seconds[:, :20], axis=1) < np.median(seconds[:, 20:], axis=1)).all()
