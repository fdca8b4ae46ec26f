"""Rounds and trials: the same numbers however they are cut up and wherever they run; the
stopwatch.
"""

import os
import subprocess
import sys
import time
from dataclasses import replace
from functools import partial
from threading import Thread

import joblib
import numpy as np
import psutil
import pytest

from kbrepro.bandits.confidence import Srinivas2010
from kbrepro.bandits.kernels import SquaredExponential, grid
from kbrepro.bandits.policies import UCB, ExpectedImprovement, VarianceOnly
from kbrepro.bandits.problems import GPDraw, Known, Model, Problem, Trial
from kbrepro.trials import simulation, store
from kbrepro.trials.curve import log_spaced
from kbrepro.trials.simulation import Experiment, rounds, run_trials

SEED, TRIALS = 2010, 6


@pytest.fixture
def experiment():
    return Experiment(
        problem=GPDraw(SquaredExponential(0.2), grid(30), 0.025),
        policies={
            "GP-UCB/5": partial(UCB, width=Srinivas2010(delta=0.1, beta_scale=0.2)),
            "EI": ExpectedImprovement,
            "variance only": VarianceOnly,
        },
        horizon=15,
    )


def observed(problem, arms, rng):
    """What pulls of these arms gave in the run that drew from `rng`."""
    return [problem.pull(arm, rng) for arm in arms]


class Scripted:
    """Pulls arms in turn, draws as it goes, and writes down what happens."""

    def __init__(self, draws):
        self.rng, self.draws, self.steps = np.random.default_rng(1), draws, []

    def ask(self):
        self.rng.random(self.draws)
        arm = 1 + len(self.steps)
        self.steps.append(("ask", arm))
        return arm

    def tell(self, arm, observation):
        self.steps.append(("tell", arm, observation))


# One run


@pytest.mark.parametrize("draws", [0, 7])
def test_a_run_is_ask_pull_tell_and_what_the_policy_draws_does_not_touch_the_noise(
    experiment, draws
):
    problem, policy = experiment.problem(Trial(33, 0)), Scripted(draws)
    trace = simulation.run(policy, problem, 4, np.random.default_rng(34))
    steps = []
    arms = [1, 3, 5, 7]
    for arm, y in zip(arms, observed(problem, arms, np.random.default_rng(34)), strict=True):
        steps += [("ask", arm), ("tell", arm, y)]
    assert policy.steps == steps and trace.arms.tolist() == arms
    lost = problem.expected_reward.max() - problem.expected_reward[arms]
    np.testing.assert_array_equal(trace.regret, lost)
    assert trace.seconds.shape == (4,) and (trace.seconds > 0).all()


class Elsewhere:
    """Works for a twentieth of a CPU second in another thread before it pulls an arm."""

    def __init__(self, model, horizon):
        pass

    def ask(self):
        other = Thread(target=lambda: burn(0.05))
        other.start()
        other.join()
        return 0

    def tell(self, arm, observation):
        pass


def burn(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def waits_and_works(trial):
    time.sleep(0.1)
    burn(0.1)
    return trial.number


def test_seconds_are_cpu_time_of_the_thread_that_plays(experiment, tmp_path, monkeypatch):
    """Neither waiting counts nor what other threads do, whose trials have seconds of their own."""
    problem = experiment.problem(Trial(33, 0))
    curve = simulation.run(Elsewhere(problem.model, 3), problem, 3, np.random.default_rng(1))
    assert 0 < curve.seconds.sum() < 0.05
    monkeypatch.setenv("KBREPRO_JOBS", "2")
    with joblib.parallel_config("threading", n_jobs=2):
        simulation.map_trials(waits_and_works, 4, SEED, label="it", kept_in=store.Store(tmp_path))
    _, kept = store.opened(tmp_path, "it")
    assert (kept.seconds >= 0.099).all() and (kept.seconds < 0.15).all()


# Trials


def test_policies_of_a_trial_share_function_noise_and_first_arm(experiment):
    heard = {name: [] for name in experiment.policies}

    def listening(name, model, horizon, rng):
        policy = experiment.policies[name](model, horizon, rng=rng)
        tell = policy.tell
        policy.tell = lambda arm, y: (heard[name].append(y), tell(arm, y))
        return policy

    policies = {name: partial(listening, name) for name in heard}
    traces = run_trials(replace(experiment, policies=policies), TRIALS, SEED)
    for name, trace in traces.items():
        again = []
        for number, arms in enumerate(trace.arms):
            trial = Trial(SEED, number)
            again += observed(experiment.problem(trial), arms, trial.rng("noise"))
        # what policies were told is what is drawn again
        assert again == heard[name]
    assert len({tuple(trace.arms[:, 0]) for trace in traces.values()}) == 1
    assert len({trace.arms.tobytes() for trace in traces.values()}) == len(traces)
    assert len(np.unique(traces["EI"].arms[:, 0])) > 2


@pytest.mark.parametrize(("jobs", "block"), [("1", 100), ("2", 4)])
def test_workers_blocks_and_company_change_nothing_and_first_picks_trials_by_number(
    experiment, monkeypatch, jobs, block
):
    whole = run_trials(experiment, TRIALS, SEED)
    monkeypatch.setenv("KBREPRO_JOBS", jobs)
    again = run_trials(experiment, TRIALS, SEED, block=block)
    part = run_trials(experiment, 3, SEED, first=2, block=block)
    lone = replace(experiment, policies={"EI": experiment.policies["EI"]})
    alone = run_trials(lone, TRIALS, SEED, block=block)
    assert list(whole) == list(experiment.policies)
    for name, curve in whole.items():
        assert curve.seconds.shape == (TRIALS, 15) and curve.gaps.shape == (TRIALS, 30)
        for attribute in ("arms", "gaps"):
            numbers = getattr(curve, attribute)
            np.testing.assert_array_equal(getattr(again[name], attribute), numbers)
            np.testing.assert_array_equal(getattr(part[name], attribute), numbers[2:5])
    np.testing.assert_array_equal(alone["EI"].arms, whole["EI"].arms)


def test_bad_settings_are_named(experiment, monkeypatch):
    def runs(**changed):
        run_trials(**{"experiment": experiment, "seed": SEED, "trials": 2} | changed)

    for name in ("trials", "block", "first", "seed"):
        with pytest.raises(ValueError, match=f"{name} = -5"):
            runs(**{name: -5})
    for at_horizon in (partial(replace, experiment), partial(rounds, None, None, rng=None)):
        with pytest.raises(ValueError, match="horizon = 0"):
            at_horizon(horizon=0)
    for jobs in ("0", "1.5"):
        monkeypatch.setenv("KBREPRO_JOBS", jobs)
        with pytest.raises(ValueError, match=r"KBREPRO_JOBS = .* an integer of at least 1"):
            runs()


# Bands, and other jobs


def test_the_band_is_the_worst_since_the_round_before_that_is_kept():
    """Of 1000 rounds about 90 numbers are kept: their maximum is that of all rounds, from round 10
    on too.
    """
    source = GPDraw(SquaredExponential(0.2), grid(20), 0.5)
    trial, rule = Trial(3, 0), partial(UCB, width=Srinivas2010(0.1))
    problem, whole = source(trial), []
    policy = rule(problem.model, 1000, rng=trial.rng("policy"))
    for _ in rounds(policy, problem, 1000, trial.rng("noise")):
        whole.append(policy.band_ratio(problem.expected_reward))
    experiment = Experiment(source, {"UCB": rule}, 1000)
    found = run_trials(replace(experiment, record_band=True), 1, 3)["UCB"]
    plain = run_trials(experiment, 1, 3)["UCB"]
    at, band = log_spaced(1000), found.band_ratio[0]
    worst = [max(whole[a:b]) for a, b in zip([0, *at[:-1]], at, strict=True)]
    np.testing.assert_array_equal(band, worst)
    np.testing.assert_array_equal(plain.arms, found.arms)
    assert plain.band_ratio.shape == (1, 1) and np.isnan(plain.band_ratio).all()


def test_without_arms_curves_and_a_digest_of_the_arms_are_kept_and_totals_are_sums(experiment):
    traces = run_trials(experiment, 3, SEED)
    curves = run_trials(experiment, 3, SEED, arms=False)
    totals = simulation.map_trials(partial(simulation.regrets_at, experiment, [15, 5]), 3, SEED)
    assert list(curves) == list(traces)
    for name, curve in curves.items():
        sums = traces[name].cumulative_regret
        np.testing.assert_allclose(curve.totals, sums[:, curve.at - 1], rtol=1e-7)
        of_5 = [row[name][1] for row in totals]
        np.testing.assert_allclose(of_5, traces[name].regret[:, :5].sum(axis=1), rtol=1e-15)
        assert curve.at[-1] == experiment.horizon
        assert curve.seconds.shape == (3, 1) and (curve.seconds > 0).all()

    def digests(n):
        kept = simulation.play_trial(experiment, Trial(SEED, n), arms=False)
        return {part["arms_digest"] for part in kept["policies"].values()}

    assert digests(0) == digests(0) and not digests(0) & digests(1)


SCRIPT = """
import time
from kbrepro.trials.simulation import map_trials

map_trials(lambda trial: time.sleep(600), 4, 1)
"""


def test_workers_end_with_a_script_that_is_killed(tmp_path):
    own = {"MARK": os.fspath(tmp_path), "KBREPRO_JOBS": "2"}

    def there(word=""):
        found = []
        for process in psutil.process_iter(["environ", "cmdline"]):  # of a zombie both are empty
            marked = (process.info["environ"] or {}).get("MARK") == own["MARK"]
            if marked and word in " ".join(process.info["cmdline"]):
                found.append(process)
        return found

    script = subprocess.Popen([sys.executable, "-c", SCRIPT], env=os.environ | own)
    while not there("popen_loky"):
        assert script.poll() is None
        time.sleep(0.01)
    script.kill()
    script.wait()
    # two seconds on an idle machine; where many wait, a worker's start takes long
    deadline = time.monotonic() + 60
    while (left := there()) and time.monotonic() < deadline:
        time.sleep(0.1)
    for process in left:
        process.kill()
    assert not left


def test_a_function_that_takes_no_rng_makes_policies_with_the_generator_of_their_trial():
    """Draws differ from trial to trial, as for a class that is born with its generator."""

    class Drawn:
        def ask(self):
            return int(self.rng.integers(9))

        def tell(self, arm, observation):
            pass

    def born(model, horizon, rng):
        policy = Drawn()
        policy.rng = rng
        return policy

    model = Model(grid(9), SquaredExponential(0.2), 1.0)
    source = Known(Problem(model, np.linspace(0, 1, 9)))
    rules = {"plain": lambda model, horizon: Drawn(), "born": born}
    curves = run_trials(Experiment(source, rules, 30), 2, 1)
    assert np.array_equal(curves["plain"].arms, curves["born"].arms)
    assert not np.array_equal(*curves["plain"].arms)
