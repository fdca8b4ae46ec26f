"""What is measured in runs, by hand, and problems from readings of sensors."""

import os
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from kbrepro.bandits.confidence import Srinivas2010
from kbrepro.bandits.kernels import SquaredExponential, grid
from kbrepro.bandits.policies import UCB, ProbabilityOfImprovement
from kbrepro.bandits.problems import GPDraw, Trial
from kbrepro.batch import plans
from kbrepro.batch.plans import on_substitute
from kbrepro.data import store
from kbrepro.papers.gp_ucb import gain, measures
from kbrepro.papers.gp_ucb.policy import MPIVaried, in_prior_sds
from kbrepro.trials.simulation import Experiment, Planned, regrets_at, run, start_policy
from kbrepro.trials.store import NotKept, Played, Store
from kbrepro.trials.store.settings import unknown


def test_sensor_problems_take_mean_and_covariance_from_the_training_rows_alone():
    rng = np.random.default_rng(1)
    train, test = rng.normal(20, 2, (50, 3)), rng.normal(25, 1, (4, 3))
    source, prior_sd = measures.sensor_problems(train, test, 0.5)
    centred = train - train.mean(axis=0)
    np.testing.assert_allclose(source.covariance, centred.T @ centred / 49)
    np.testing.assert_allclose(source.rewards, test - train.mean(axis=0))
    assert source.noise_variance == 0.5
    assert prior_sd**2 == pytest.approx(np.trace(source.covariance) / 3)


# Readings by name


NAMED = [measures.TEMPERATURE, measures.HALF_HOURS, measures.HALF_HOURS_OF_ALL]


@pytest.fixture
def empty(tmp_path, monkeypatch):
    """A directory without data, where KBREPRO_DATA points."""
    directory = tmp_path / "no data"
    directory.mkdir()
    monkeypatch.setenv("KBREPRO_DATA", str(directory))
    for cached in (measures._rows, measures._loaded):
        cached.cache_clear()
    return directory


def planned(source):
    """A short run of the rule whose settings depended on the readings."""
    mpi = partial(in_prior_sds, rule=ProbabilityOfImprovement, margin=0.1)
    return Planned(Experiment(source, {"MPI": mpi}, 4, measured=source.checksum), 2, seed=5)


def check_equal(source, data):
    """The problems of a source are those of `sensor_problems`, bit by bit."""
    rows = (store.on_days(data, source.within) if source.within else data).readings
    thirds, i = np.array_split(rows, 3), measures.PARTS.index(source.part)
    train, test = np.concatenate([*thirds[:i], *thirds[i + 1 :]]), thirds[i]
    old, prior_sd = measures.sensor_problems(train, test[:: source.every], 0.5)
    assert source.trials == len(old.rewards) * source.plays
    for number in (0, 1, source.trials // 2, source.trials - 1):
        now, before = source(Trial(0, number)), old(Trial(0, number // source.plays))
        assert (now.model.kernel.covariance == before.model.kernel.covariance).all()
        assert (now.expected_reward == before.expected_reward).all()
        assert now.model.noise_variance == before.model.noise_variance
    mpi = in_prior_sds(now.model, 4, rule=ProbabilityOfImprovement, margin=0.03)
    assert mpi.margin == 0.03 * prior_sd
    with pytest.raises(IndexError, match=f"one of the {source.trials} rows"):
        source(Trial(0, source.trials))
    raw = replace(source, centred=False, noise_share=0.05)(Trial(0, number))
    assert (raw.expected_reward == test[number // source.plays * source.every]).all()
    assert raw.model.noise_variance == pytest.approx(0.05 * prior_sd**2)


def choices(source):
    """Each third, some rows several times, and some of the days."""
    yield from (replace(source, part=part) for part in measures.PARTS)
    yield replace(source, every=7, plays=4)
    if len(source.days) == 30:
        yield replace(source, within=source.days[10:15])


@pytest.mark.skipif(
    "KBREPRO_DATA" not in os.environ, reason="KBREPRO_DATA is not set: no real data"
)
@pytest.mark.parametrize("source", NAMED)
def test_named_readings_make_the_problems_of_the_readings_themselves(source):
    data = store.load(source.name, source.days, source.motes)
    assert not source.without_data and source.is_real
    for choice in choices(source):
        check_equal(choice, data)


@pytest.mark.parametrize("source", NAMED)
def test_without_a_checksum_they_are_the_substitute(source, empty):
    data = store.load(source.name, source.days, source.motes)
    one = on_substitute(planned(source)).experiment
    assert not data.is_real and not one.problem.without_data and one.measured == ""
    for choice in choices(one.problem):
        check_equal(choice, data)


@pytest.mark.parametrize("source", NAMED)
def test_a_plan_is_the_same_without_the_data_and_cannot_be_played(source, empty, monkeypatch):
    without = planned(source).job("warmest")
    assert without.without_data and not unknown(without.settings)
    with pytest.raises(NotKept, match="its sensor data is missing"):
        planned(source).play("warmest", Store(empty / "played"))
    assert planned(source)._repr_markdown_()
    with pytest.raises(ValueError, match="and is none, since their file is missing"):
        source(Trial(0, 0))
    monkeypatch.setattr(store, "file_of", lambda *which: empty)  # as if there were one
    assert planned(source).job("warmest").settings == without.settings
    assert not without.without_data


def test_stored_trials_are_read_without_the_data_and_other_readings_are_refused(empty, monkeypatch):
    simulated = replace(measures.TEMPERATURE, every=100)
    data = replace(store.load("temperature"), checksum="a sum")
    kept_in, source = Store(empty / "played"), replace(simulated, checksum="a sum")
    with monkeypatch.context() as patch:
        patch.setattr(store, "file_of", lambda *which: empty)
        patch.setattr(store, "load", lambda *which: data)
        played = planned(source).play("warmest", kept_in)
        with pytest.raises(ValueError, match="must be another sum, and is a sum"):
            replace(source, checksum="another sum")(Trial(0, 0))
    read = planned(source).play("warmest", kept_in)
    np.testing.assert_array_equal(read["MPI"].totals, played["MPI"].totals)
    job = planned(source).job("warmest")
    assert job.without_data and isinstance(kept_in.find(job), Played)
    one = on_substitute(planned(source))
    assert one.play("warmest")["MPI"].horizon == 4
    assert on_substitute(one).experiment is one.experiment


def test_a_short_run_without_the_data_plays_the_substitute(empty, monkeypatch):
    plan = {"warmest": planned(measures.TEMPERATURE)}
    job = partial(regrets_at, plan["warmest"].experiment, [4])
    plan["R_T alone"] = replace(plan["warmest"], what=job)
    monkeypatch.setattr(plans, "plan_of", lambda *which: plan)
    for short in (False, True):
        made, _ = plans.with_data("01", {}, Store(empty / "played"), short)
        for label in plan:
            assert made[label].experiment.problem.is_real != short
    assert made["R_T alone"].play("R_T alone")[0]["MPI"].shape == (1,)


def test_margins_are_shares_of_the_root_of_the_mean_prior_variance():
    problem = GPDraw(SquaredExponential(0.2, variance=9.0), grid(20), 0.1)(Trial(3, 0))
    make = partial(in_prior_sds, rule=MPIVaried, margin=0.1, incumbent="noisy_reward")
    policy = start_policy(make, problem.model, 5, Trial(3, 0))
    assert isinstance(policy, MPIVaried) and policy.incumbent == "noisy_reward"
    assert policy.margin == pytest.approx(0.3)


def test_what_is_watched_is_the_run_that_is_played():
    trial = Trial(3, 0)
    problem = GPDraw(SquaredExponential(0.2), grid(20), 0.1)(trial)
    rule = partial(UCB, problem.model, 5, width=Srinivas2010(0.1))
    frames = measures.watched(rule(rng=trial.rng("policy")), problem, 5, trial.rng("noise"))
    arms = run(rule(rng=trial.rng("policy")), problem, 5, trial.rng("noise")).arms
    first = frames[frames["round"] == 1]
    assert (first["mean"] == 0).all() and np.ptp(first["half"]) == 0
    pulled = frames.groupby("round")["pulled"].first()
    np.testing.assert_array_equal(pulled, problem.model.points[arms, 0])
    # what is pulled has the highest edge of the band
    for _, now in frames.groupby("round"):
        edge = now["mean"] + now["half"]
        assert edge[now["x"] == now["pulled"].iloc[0]].item() == pytest.approx(edge.max())


def test_the_exponents_of_fig_1_for_matern():
    """T^((nu + d (d + 1)) / (2 nu + d (d + 1))) in the paper, since with d for d (d + 1)."""
    for d, nu in ((1, 2.5), (3, 1.5), (8, 2.5)):
        found = gain.matern_regret_exponents(d, nu)
        assert found["the paper"] == pytest.approx((nu + d * (d + 1)) / (2 * nu + d * (d + 1)))
        assert found["since"] == pytest.approx(1 - nu / (2 * nu + d))
