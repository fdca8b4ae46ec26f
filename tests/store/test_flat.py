"""What jobs return goes into plain arrays by path, comes back, and is compared leaf by leaf."""

from collections import namedtuple

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kbrepro import store
from kbrepro.problems import Trial
from kbrepro.simulation import map_trials
from kbrepro.store.flat import differences, flat, nested, stacked

Run = namedtuple("Run", "arms seconds")
TEXTS = ["", "a", "two words", "γ_T ≤ 1/2", "x" * 40]
LEAVES = {
    "int": lambda rng: int(rng.integers(-(2**40), 2**40)),
    "float": lambda rng: float(rng.choice([rng.standard_normal(), np.nan, np.inf, 1e300])),
    "text": lambda rng: str(rng.choice(TEXTS)),
    "bool": lambda rng: bool(rng.integers(2)),
    "matrix": lambda rng: np.where(rng.random((2, 3)) < 0.3, np.nan, rng.standard_normal((2, 3))),
    "integers": lambda rng: rng.integers(9, size=3).astype(np.int32),
    "texts": lambda rng: rng.choice(TEXTS, size=3),
    "ragged": lambda rng: rng.standard_normal((int(rng.integers(4)), 2)).astype(np.float32),
}
KEYS = [("GP-UCB/5", "", "µ"), (0.0, -1e-9, float("inf")), (7, "b", 2**40), (("a", 1), (0.5, ("b", 3)), ())]
SHAPES = st.recursive(
    st.sampled_from(sorted(LEAVES)),
    lambda inner: st.one_of(
        st.tuples(st.sampled_from([list, *KEYS]), st.lists(inner, min_size=1, max_size=3)),
        st.tuples(st.just(Run), st.lists(inner, min_size=2, max_size=2)),
    ),
    max_leaves=8,
)


def made(shape, rng):
    """A random result of this shape."""
    if isinstance(shape, str):
        return LEAVES[shape](rng)
    kind, parts = shape[0], [made(part, rng) for part in shape[1]]
    return Run(*parts) if kind is Run else parts if kind is list else dict(zip(kind, parts, strict=False))


def assert_same(one, other):
    """The same values of the same types, whatever held them by name."""
    one = one._asdict() if isinstance(one, Run) else one
    if isinstance(one, np.ndarray):
        assert one.dtype.kind == other.dtype.kind
        np.testing.assert_array_equal(one, other, strict=one.dtype.kind != "U")
    elif isinstance(one, dict):
        assert list(one) == list(other) and [type(key) for key in one] == [type(key) for key in other]
        assert_same(list(one.values()), list(other.values()))
    elif isinstance(one, list):
        for a, b in zip(one, other, strict=True):
            assert_same(a, b)
    else:
        assert type(one) is type(other) and (one == other or one != one)


@settings(max_examples=50, deadline=None, derandomize=True)
@given(shape=SHAPES, n=st.integers(1, 4), seed=st.integers(0, 10**6))
def test_what_trials_return_comes_back_from_a_file(tmp_path_factory, shape, n, seed):
    def job(trial):
        return made(shape, np.random.default_rng([seed, trial.number]))

    kept_in, folder = store.Store(tmp_path_factory.mktemp("played")), {"label": "a", "function": job, "seed": 0}
    kept_in.keep(
        store.Job(**folder, settings={}, first=0, trials=n),
        store.Kept(stacked([flat(job(Trial(0, number))) for number in range(n)]), np.ones(n)),
    )
    _, kept = store.opened(kept_in.folder, "a")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KBREPRO_JOBS", "1")
        played = map_trials(job, n, 0)
    for number in range(n):
        before = job(Trial(0, number))
        assert_same(before, kept.results[number])
        assert_same(before, played[number])
        assert differences(flat(before), kept.trial(number)) == {}


def test_a_table_is_its_columns_and_its_named_index_and_a_row_has_attributes():
    table = pd.DataFrame({"regret": [0.5, 1.5], "rule": ["EI", "UCB"]}, pd.Index([10, 20], name="t"))
    row = nested(flat({"sizes": table, "run": Run(np.arange(3), 1)}))
    pd.testing.assert_frame_equal(pd.DataFrame(row.sizes).set_index("t"), table, check_dtype=False)
    assert list(nested(flat(table.reset_index(drop=True)))) == ["regret", "rule"]
    assert row.run.arms.tolist() == [0, 1, 2] and not hasattr(row, "arms")


ARMS = np.arange(600)
BEFORE = {
    "policies": {"EI": Run(ARMS, np.ones(3))},
    "gain": 1.0,
    "n": 10**15,
    "name": "x",
    "totals": np.float32([1, 2]),
}


@pytest.mark.parametrize(
    ("change", "place", "share"),
    [
        ({"policies": {"EI": Run(np.where(ARMS == 500, 7, ARMS), np.ones(3))}}, "policies/EI/arms, at 501", np.inf),
        ({"policies": {"EI": Run(ARMS, np.zeros(3))}}, "", 0),  # seconds
        ({"policies": {"EI": Run(ARMS[:3], np.ones(3))}}, "policies/EI/arms, of shape (600,) before, (3,) now", np.inf),
        ({"gain": 1 + 1e-12}, "", 0),
        ({"gain": 1 + 1e-6}, "gain", 1e-6),
        ({"gain": np.nan}, "gain", np.inf),
        ({"gain": 1}, "", 0),
        ({"n": 10**15 + 1}, "n", np.inf),
        ({"name": "y"}, "name", np.inf),
        ({"totals": np.float32([1, 2 + 5e-7])}, "", 0),
        ({"totals": np.float32([1, 2.5])}, "totals, at 2", 0.2),
        ({"more": 1}, "names: more", np.inf),
    ],
)
def test_a_difference_has_its_first_place_and_size(change, place, share):
    found = differences(flat(BEFORE), flat(BEFORE | change))
    assert list(found) == [place] * bool(place) and list(found.values()) == pytest.approx(
        [share] * bool(place), rel=1e-3
    )


@pytest.mark.parametrize("it", [{1, 2}, b"ab", 1j, object(), None])
def test_what_cannot_be_kept_is_named_with_its_place(it):
    with pytest.raises(ValueError, match=f"a job returned {type(it).__name__} at 'runs/0': it must return numbers"):
        flat({"runs": [it]})


@pytest.mark.parametrize("other", [{"a": 1.0, "b": 2.0}, {"a": [1.0]}, {1: 1.0}, 1.0])
def test_unlike_trials_are_refused(other):
    with pytest.raises(ValueError, match=r"trial 2 returned other names than trial 0, .*: they must be alike"):
        stacked([flat(each) for each in ({"a": 1.0}, {"a": 1.0}, other)])


@pytest.mark.parametrize("result", [{1: 1.0, "1": 2.0}, {"a/b": 1.0, "a": {"b": 2.0}}, {"seconds of a trial": 1.0}])
def test_names_that_a_file_could_not_tell_apart_are_refused(tmp_path, result):
    job, kept = store.Job("a", None, {}, 0, 0, 1), store.Kept(stacked([flat(result)]), np.ones(1))
    with pytest.raises(ValueError, match="a job returned two things of one name"):
        store.Store(tmp_path).keep(job, kept)
