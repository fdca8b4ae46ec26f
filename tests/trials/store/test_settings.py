"""Settings are what objects say of themselves: other points are other settings, another module is
not.
"""

from dataclasses import dataclass, make_dataclass, replace
from functools import partial

import numpy as np
import pytest

import kbrepro as kb
from kbrepro.trials.store.settings import differences, settings, unknown

KERNEL = kb.Matern(0.2, nu=2.5)
SOURCE = kb.GPDraw(KERNEL, kb.grid(12), 0.025)
EXPERIMENT = kb.Experiment(
    SOURCE, {"EI": partial(kb.ExpectedImprovement, margin=0.1), "mean": kb.MeanOnly}, 30
)


def differ(one, other):
    return differences(settings(one), settings(other))


def with_source(**changes):
    return replace(EXPERIMENT, problem=replace(SOURCE, **changes))


@pytest.mark.parametrize(
    ("other", "where"),
    [
        (replace(EXPERIMENT, horizon=31), "Experiment, horizon: 30 before, 31 now"),
        (
            replace(EXPERIMENT, policies={"mean": kb.MeanOnly}),
            "Experiment, policies, EI, ExpectedImprovement, margin: 0.1 before, not there now",
        ),
        (replace(EXPERIMENT, policies={"EI": kb.MeanOnly}), "before, MeanOnly now"),
        (with_source(points=kb.grid(12)[::-1]), "GPDraw, points: array (12, 1)"),
        (with_source(points=kb.grid(13)), "array (12, 1) of norm"),
        (with_source(kernel=kb.Matern(0.35, nu=2.5)), "lengthscale: 0.2 before, 0.35 now"),
    ],
)
def test_whatever_decides_makes_other_settings(other, where):
    assert differ(EXPERIMENT, EXPERIMENT) == []
    assert where in "\n".join(differ(EXPERIMENT, other))


def test_rounding_makes_no_other_setting():
    near, far = 1 + 1e-12, 1 + 1e-6
    rounded = with_source(points=SOURCE.points * near, noise_variance=0.025 * near)
    assert differ(EXPERIMENT, rounded) == []
    assert len(differ(EXPERIMENT, with_source(noise_variance=0.025 * far))) == 1


VALUES = np.random.default_rng(2).standard_normal((40, 3))
NOISE = np.random.default_rng(3).standard_normal((40, 3))


@pytest.mark.parametrize(
    ("one", "other", "n_places"),
    [
        (VALUES, VALUES + 1e-12 * NOISE, 0),
        (VALUES, VALUES + 1e-6 * NOISE, 1),
        (VALUES, VALUES[None], 1),
        (VALUES, VALUES.astype(int), 1),
        (VALUES[0, :1], VALUES[0, :1] + 1e-6, 1),
        (np.append(VALUES, np.inf), np.append(VALUES, np.inf), 0),
        (np.append(VALUES, np.inf), np.append(VALUES, -np.inf), 1),
        (np.arange(4), np.arange(4, dtype=np.int32), 0),
        (np.array(["a", "b"]), np.array(["a", "c"]), 1),
        (np.int64(3), 3.0, 0),
        (0.0, 1e-12, 1),
        (10**12, 10**12 + 1, 1),
        (1, True, 1),
        ("1", 1, 1),
        (None, 0, 1),
        ([1, 2], [1], 1),
        ({}, [], 1),
        ({"a": 1}, {"b": 1}, 2),
    ],
)
def test_arrays_and_floats_are_the_same_up_to_rounding_all_else_only_if_equal(one, other, n_places):
    assert len(differ(one, other)) == n_places


def test_a_moved_class_says_the_same_and_a_renamed_one_if_it_keeps_its_name():
    def made(module, name="Steps", **more):
        cls = make_dataclass(name, [("size", int)], namespace=more)
        cls.__module__ = module
        return settings(cls(3))

    assert made("kbrepro.bandits.problems") == made("elsewhere") == {"Steps": {"size": 3}}
    assert made("a", "Stairs") != made("a") == made("a", "Stairs", stored_as="Steps")


def test_what_no_other_process_could_read_is_refused():
    def inner(trial):
        return trial

    words = "has no settings that can be stored: it must be a class, a function"
    for thing in (lambda trial: 1, partial(inner, 3), object()):
        with pytest.raises(ValueError, match=words):
            settings(thing)
    with pytest.raises(ValueError, match=r"two keys of .* have the same text"):
        settings({1: "a", "1": "b"})


@dataclass(frozen=True)
class Model:
    value: float
    points: np.ndarray


def test_what_follows_from_data_that_is_not_here_is_the_same_and_is_known_to_be_so():
    here, gone = Model(2.5, np.arange(6.0)), Model(np.nan, np.full(6, np.nan))
    assert differ(here, gone) == [] and unknown(settings(gone)) and not unknown(settings(here))
    assert differ(gone, here) != [] and differ(here, Model(np.nan, np.full(7, np.nan))) != []
