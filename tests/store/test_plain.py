"""What jobs return goes into named columns of plain arrays, and comes back as it was."""

import io
import json
from collections import namedtuple

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kbrepro.store import plain

Run = namedtuple("Run", "arms seconds")


def test_many_trials_are_stacked_and_ragged_ones_are_cut_where_they_end():
    results = [{"gain": np.arange(n, dtype=float), "n": n} for n in (3, 0, 5)]
    form, columns = plain.columns_of(results)
    assert columns["n"].tolist() == [3, 0, 5] and columns["gain"].shape == (8,)
    assert_same(plain.results_of(form, columns, 3), results)


def test_differences_name_column_and_place():
    one = {"runs": {"EI": Run(np.arange(600), np.ones(3))}, "gain": 1.0, "name": "x"}
    arms = np.arange(600)
    arms[500] = 7
    other = {"runs": {"EI": Run(arms, np.zeros(3))}, "gain": 1.0 + 1e-12, "name": "x"}
    assert plain.differences(one, one) == []
    assert plain.differences(one, other) == ["runs/EI/arms, at 500"]  # neither the seconds nor the last digits
    assert plain.differences(one, one | {"gain": 1.0 + 1e-6}) == ["gain, at its value"]
    assert plain.differences(one, one | {"name": "y"}) == ["name, at its value"]
    assert plain.differences(one, one | {"gain": float("nan")}) == ["gain, at its value"]
    assert plain.differences({"a": np.ones(3)}, {"a": np.ones(2)}) == ["a, at its shape: (3,) before, (2,) now"]
    assert plain.differences({"a": 1}, {"b": 1}) == ["its names"]


def test_the_largest_difference_is_a_share_and_infinite_if_more_than_numbers_differ():
    one = {"arms": np.arange(3), "gain": np.array([1.0, 4.0, np.nan]), "name": "x"}
    for gain, share in (((1.0, 4.0, np.nan), 0), ((1.0 + 1e-12, 4.0, np.nan), 0), ((1.0, 5.0, np.nan), 0.2)):
        assert plain.largest(one, one | {"gain": np.array(gain)}) == pytest.approx(share)
    for other in ({"arms": np.array([0, 1, 3])}, {"name": "y"}, {"gain": np.ones(3)}, {"gain": np.ones(2)}, {"n": 1}):
        assert plain.largest(one, one | other) == np.inf


# Several trials, through a file

TEXTS = ["", "a", "two words", "γ_T ≤ 1/2", "x" * 40, "nan"]
KEYS = [("GP-UCB/5", "", "µ"), (0.1, -1e-9, float("inf")), (7, "b", 2**40), (("a", 1), (0.5, ("b", 3)), ())]
PARTS = {
    "int": lambda rng: int(rng.integers(-(2**40), 2**40)),
    "float": lambda rng: float(rng.choice([rng.standard_normal(), np.nan, np.inf, 1e300])),
    "text": lambda rng: str(rng.choice(TEXTS)),
    "bool": lambda rng: bool(rng.integers(2)),
    "none": lambda rng: None,
    "matrix": lambda rng: np.where(rng.random((2, 3)) < 0.3, np.nan, rng.standard_normal((2, 3))),
    "integers": lambda rng: rng.integers(9, size=3).astype(np.int32),
    "texts": lambda rng: rng.choice(TEXTS, size=3),
    "ragged": lambda rng: rng.standard_normal((int(rng.integers(4)), 2)).astype(np.float32),
    "table": lambda rng: pd.DataFrame(
        {"regret": rng.standard_normal(2), 3: rng.integers(9, size=2), ("a", 0.5): ["x", "y z"]},
        pd.Index([10, 20], name="round"),
    ),
}
shapes = st.recursive(
    st.sampled_from(sorted(PARTS)),
    lambda inner: st.one_of(
        st.tuples(st.sampled_from([list, tuple]), st.lists(inner, max_size=3)),
        st.tuples(st.sampled_from(KEYS), st.lists(inner, max_size=3)),
        st.tuples(st.just(Run), st.lists(inner, min_size=2, max_size=2)),
    ),
    max_leaves=8,
)


def made(shape, rng):
    """A random result of this shape."""
    if isinstance(shape, str):
        return PARTS[shape](rng)
    kind, parts = shape
    values = [made(part, rng) for part in parts]
    if isinstance(kind, tuple):
        return dict(zip(kind, values, strict=False))
    return Run(*values) if kind is Run else kind(values)


def assert_same(one, other):
    """The same values of the same types; named tuples by their names."""
    if isinstance(one, pd.DataFrame):
        pd.testing.assert_frame_equal(one, other, check_dtype=False, check_column_type=False)
    elif isinstance(one, np.ndarray):
        assert isinstance(other, np.ndarray) and one.dtype.kind == other.dtype.kind
        np.testing.assert_array_equal(one, other, strict=one.dtype.kind != "U")
    elif isinstance(one, dict):
        assert list(one) == list(other) and [type(key) for key in one] == [type(key) for key in other]
        assert_same(list(one.values()), list(other.values()))
    elif isinstance(one, list | tuple):
        assert getattr(one, "_fields", type(one)) == getattr(other, "_fields", type(other))
        for a, b in zip(one, other, strict=True):
            assert_same(a, b)
    else:
        assert type(one) is type(other) and (one == other or one != one)


def kept(results):
    """The results as they come back from a file without pickle."""
    form, columns = plain.columns_of(results)
    file = io.BytesIO()
    np.savez(file, allow_pickle=False, **columns)
    file.seek(0)
    with np.load(file, allow_pickle=False) as its:
        return plain.results_of(json.loads(json.dumps(form)), {name: its[name] for name in its.files}, len(results))


@settings(max_examples=150, deadline=None, derandomize=True)
@given(shape=shapes, n=st.integers(1, 4), seed=st.integers(0, 10**6))
def test_many_trials_come_back_from_a_file_as_they_were(shape, n, seed):
    results = [made(shape, np.random.default_rng([seed, number])) for number in range(n)]
    for back in (kept(results), plain.through(results)):
        for before, now in zip(results, back, strict=True):
            assert_same(before, now)
            assert plain.differences(before, now) == []


def test_scalars_of_numpy_become_those_of_python():
    (back,) = kept([[np.float32(0.5), np.int64(3), np.bool_(True), np.str_("a")]])
    assert back == [0.5, 3, True, "a"] and [type(its) for its in back] == [float, int, bool, str]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"a": 1.0}, {"a": 1}),
        ({"a": 1.0}, {"a": 1.0, "b": 2.0}),
        ([1.0], [1.0, 2.0]),
        ([1.0], (1.0,)),
        (None, 1.0),
        ({1: 1.0}, {"1": 1.0}),
        (np.zeros(2), 0.0),
        (np.zeros(2), np.zeros((2, 2))),
        (np.zeros((2, 3)), np.zeros((2, 4))),
    ],
)
def test_unlike_trials_are_refused(one, other):
    with pytest.raises(ValueError, match=r"the job of trial 2 returned other names|dimension"):
        plain.columns_of([one, one, other])
    assert plain.differences(one, other)


@pytest.mark.parametrize(("it", "name"), [({1, 2}, "set"), (b"ab", "bytes"), (1j, "complex"), (object(), "object")])
def test_what_cannot_be_kept_is_named_with_its_place(it, name):
    with pytest.raises(ValueError, match=f"a job returned {name} at 'runs/0': it must return numbers, texts, arrays"):
        plain.columns_of([{"runs": [it]}])


def test_whole_numbers_must_be_equal_and_others_up_to_rounding():
    assert plain.differences(10**15, 10**15 + 1) and plain.differences(np.array([10**15]), np.array([10**15 + 1]))
    for value in (3.0, 1e12, np.nan, np.inf):
        assert plain.differences(value, value * (1 + 5e-10)) == []
    assert plain.differences(3.0, 3.0 * (1 + 1e-8)) and plain.differences(1e-8, 0.0)


def test_what_lies_below_seconds_is_kept_and_not_compared():
    one, other = ({"EI": {"seconds": {"ask": np.full(3, t)}}, "seconds": t} for t in (1.0, 2.0))
    assert plain.differences(one, other) == []
    assert_same(kept([one])[0], one)
    assert plain.differences({"seconds a round": 1.0}, {"seconds a round": 2.0}) == ["seconds a round, at its value"]


BROKEN = {
    "two keys of one text": [{1: 1.0, "1": 2.0}],
    "two ways of one text": [{"a/b": 1.0, "a": {"b": 2.0}}],
    "a key that looks like lengths": [{"x (lengths)": 1}],
    "an array without axes": [np.array(3.0)],
    "whole numbers and others": [np.array([1.5]), np.array([2])],
    "numbers and texts": [np.array([1.5]), np.array(["a"])],
    "large whole numbers": [2**63 + 1, 5],
    "a text that ends in nothing": ["a\0"],
    "a named tuple of columns": [namedtuple("Table", "columns")(1.0)],
}


@pytest.mark.parametrize("results", BROKEN.values(), ids=BROKEN)
def test_what_would_not_come_back_as_it_was_is_refused(results):
    try:
        back = kept(results)
    except ValueError:
        return
    assert_same(list(results), back)
