"""Trials: the same numbers however they are cut up and wherever they run; what is kept and when it is forgotten."""

import os
import warnings
from functools import partial
from pathlib import Path
from weakref import WeakKeyDictionary

import joblib
import numpy as np
import pytest
from scipy.stats import norm

from kbrepro import problems, simulation
from kbrepro.confidence import finite_arms
from kbrepro.kernels import SquaredExponential, grid
from kbrepro.policies import UCB, ExpectedImprovement, MeanOnly, ProbabilityOfImprovement, VarianceOnly
from kbrepro.regret import Trace
from kbrepro.simulation import Experiment, on_exact_posterior, run_trials, stream

SEED, TRIALS = 2010, 6
PACKAGE = Path(simulation.__file__).parent


@pytest.fixture
def experiment():
    return Experiment(
        problem=partial(problems.gp_draw, kernel=SquaredExponential(0.2), arms=grid(30), noise_variance=0.025),
        policies={
            "GP-UCB/5": on_exact_posterior(UCB, width=partial(finite_arms, n_arms=30, delta=0.1, divide_beta_by=5)),
            "EI": on_exact_posterior(ExpectedImprovement),
            "MPI": on_exact_posterior(ProbabilityOfImprovement, margin=0.1),
            "mean only": on_exact_posterior(MeanOnly),
            "variance only": on_exact_posterior(VarianceOnly),
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
    return np.array([trace.seconds for trace in traces.values()]).T


# One run


def test_a_run_is_ask_pull_tell(experiment):
    problem = experiment.problem(np.random.default_rng(33), 0)
    calls = []

    class Recorder:
        def ask(self, rng):
            calls.append("ask")
            return 2 * (len(calls) // 2)

        def tell(self, arm, observation):
            calls.append((arm, observation))

    trace = simulation.run(Recorder(), problem, 4, np.random.default_rng(34))
    assert trace.arms.tolist() == [0, 2, 4, 6]
    assert calls[1::2] == list(zip(trace.arms.tolist(), trace.observations.tolist(), strict=True))
    assert calls[::2] == ["ask"] * 4
    np.testing.assert_array_equal(trace.regret, problem.expected_reward.max() - problem.expected_reward[trace.arms])
    assert trace.seconds.shape == () and trace.seconds > 0


def test_bad_horizon(experiment):
    with pytest.raises(ValueError, match="horizon = 0"):
        simulation.run(None, None, 0, None)
    with pytest.raises(ValueError, match=r"horizon = 1\.5"):
        Experiment(experiment.problem, experiment.policies, 1.5)


def test_average_regret_and_first():
    regret = np.array([[4.0, 2.0, 0.0], [1.0, 1.0, 1.0]])
    trace = Trace(np.zeros((2, 3), dtype=np.int32), regret, regret, np.ones(2), regret)
    np.testing.assert_allclose(trace.average_regret, [[4, 3, 2], [1, 1, 1]])
    np.testing.assert_allclose(Trace(*(part[0] for part in trace)).average_regret, [4, 3, 2])
    assert trace.first(1).regret.shape == (1, 3) and trace.first(1).seconds.shape == (1,)
    assert trace.first(9).regret.shape == (2, 3)


# Streams


def draws(generator):
    return tuple(generator.integers(2**62, size=4).tolist())


def test_streams_are_reproducible_and_differ():
    keys = [(seed, trial, purpose) for seed in (0, 1, 7) for trial in range(5) for purpose in ("function", "run")]
    first, second = ([draws(stream(*key)) for key in keys] for _ in range(2))
    assert first == second and len(set(first)) == len(keys)


def test_a_notebooks_own_streams_are_not_those_of_a_trial():
    """Notebooks draw from default_rng(seed) and default_rng([seed, section]) beside their trials."""
    own = {draws(np.random.default_rng(SEED))} | {draws(np.random.default_rng([SEED, n])) for n in range(10)}
    trials = {draws(stream(SEED, trial, purpose)) for trial in range(10) for purpose in ("function", "run")}
    assert not own & trials


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ((-1, 0, "run"), "seed = -1"),
        ((1.0, 0, "run"), r"seed = 1\.0"),
        ((0, -1, "run"), "trial = -1"),
        ((0, 0, "noise"), "purpose = 'noise' is not allowed: purpose must be one of 'function', 'run'"),
    ],
)
def test_bad_streams(key, message):
    with pytest.raises(ValueError, match=message):
        stream(*key)


# Trials


def test_shapes_and_order(experiment):
    traces = run_trials(experiment, TRIALS, SEED)
    assert list(traces) == list(experiment.policies)
    for trace in traces.values():
        assert trace.arms.shape == trace.observations.shape == trace.regret.shape == (TRIALS, 15)
        assert trace.seconds.shape == (TRIALS,)
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
    best = [experiment.problem(stream(SEED, trial, "function"), trial).expected_reward.max() for trial in range(12)]
    noise = (trace.observations + trace.regret - np.array(best)[:, None]) / np.sqrt(0.025)
    assert abs(noise.mean()) < norm.isf(5e-5) / np.sqrt(noise.size)
    assert abs(noise.var() - 1) < 4 * np.sqrt(2 / noise.size)
    assert abs(np.mean(noise[:, 1:] * noise[:, :-1])) < 4 / np.sqrt(noise[:, 1:].size)
    assert abs(np.mean(noise[1:] * noise[:-1])) < 4 / np.sqrt(noise[1:].size)


def test_a_policy_does_not_depend_on_the_company_it_keeps(experiment):
    alone = Experiment(experiment.problem, {"MPI": experiment.policies["MPI"]}, experiment.horizon)
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


def test_sensor_fields_follow_the_trial_number():
    """The trial number reaches the problem: trial n meets field n."""
    fields = np.random.default_rng(35).standard_normal((8, 4))
    problem = partial(problems.sensor_field, covariance=np.eye(4), fields=fields, noise_variance=0.1)
    traces = run_trials(
        Experiment(problem, {"EI": on_exact_posterior(ExpectedImprovement)}, 5), 3, SEED, first=4, block=2
    )["EI"]
    expected = fields[4:7].max(axis=1, keepdims=True) - np.take_along_axis(fields[4:7], traces.arms, axis=1)
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
    seed, problem, policies, horizon = SEED, experiment.problem, experiment.policies, experiment.horizon
    run_trials(experiment, 2, seed)
    if change == "seed":
        seed += 1
    elif change == "horizon":
        horizon += 1
    elif change == "policy":
        policies = policies | {"MPI": on_exact_posterior(ProbabilityOfImprovement, margin=0.2)}
    else:
        problem = partial(problem, noise_variance=0.5)
    changed = Experiment(problem, policies, horizon)
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


def test_what_a_policy_draws_does_not_touch_the_noise(experiment):
    problem = experiment.problem(np.random.default_rng(51), 0)

    class Stubborn:
        def __init__(self, draws):
            self.draws = draws

        def ask(self, rng):
            rng.random(self.draws)
            return 3

        def tell(self, arm, observation): ...

    few, many = (simulation.run(Stubborn(n), problem, 10, np.random.default_rng(52)) for n in (0, 7))
    np.testing.assert_array_equal(few.observations, many.observations)
    assert len(np.unique(few.observations)) == 10


def test_the_band_is_recorded_before_each_pull(experiment):
    ucb = {"GP-UCB/5": experiment.policies["GP-UCB/5"]}
    recorded = run_trials(Experiment(experiment.problem, ucb, 4, record_band=True), 2, SEED)["GP-UCB/5"]
    plain = run_trials(Experiment(experiment.problem, ucb, 4), 2, SEED)["GP-UCB/5"]
    assert np.isnan(plain.band_ratio).all()
    np.testing.assert_array_equal(recorded.arms, plain.arms)
    for trial in range(2):
        f = experiment.problem(stream(SEED, trial, "function"), trial).expected_reward
        width = finite_arms(1, n_arms=30, delta=0.1, divide_beta_by=5)
        assert recorded.band_ratio[trial, 0] == pytest.approx(np.abs(f).max() / width, rel=1e-12)


def normal_numbers(seed, trial, n):
    return stream(seed, trial, "run").standard_normal(n)


@pytest.mark.parametrize("block", [1, 2, 5])
def test_any_function_of_seed_and_trial_can_be_mapped(block, cache):
    found = simulation.map_trials(partial(normal_numbers, n=3), 5, SEED, first=1, block=block)
    for trial, values in enumerate(found, start=1):
        np.testing.assert_array_equal(values, normal_numbers(SEED, trial, 3))
    assert len(found) == 5
    assert len(list(cache.rglob("output.pkl"))) == -(-5 // block)


def test_the_last_number_of_an_observation_is_the_reward_that_is_kept():
    class Layers(problems.Problem):
        def pull(self, arm, rng):
            return np.array([7.0, self.expected_reward[arm]])

    told = []

    class Cycle:
        def ask(self, rng):
            return len(told) % 4

        def tell(self, arm, observation):
            told.append(observation)

    problem = Layers(grid(4), np.arange(4.0), 1.0, SquaredExponential(0.2))
    trace = simulation.run(Cycle(), problem, 6, np.random.default_rng(1))
    np.testing.assert_array_equal(trace.observations, [0, 1, 2, 3, 0, 1])
    np.testing.assert_array_equal(told[1], [7.0, 1.0])
    np.testing.assert_array_equal(trace.cumulative_regret, [3, 5, 6, 6, 9, 11])
