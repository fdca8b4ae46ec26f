"""What jobs return goes into plain arrays by path, comes back, and is compared leaf by leaf."""

from collections import namedtuple

import numpy as np
import pandas as pd
import pytest

from kbrepro.bandits.problems import Trial
from kbrepro.trials import store
from kbrepro.trials.store.flat import flat, leaf_differences, nested, stacked

Run = namedtuple("Run", "arms seconds")
RESULT = {
    "GP-UCB/5": [3, 2.5, -(2**40), float("nan"), float("inf"), "γ_T ≤ 1/2", "", True],
    0.5: Run(np.arange(3, dtype=np.int32), {"": np.array([[1.0, np.nan]])}),
    (("a", 1), (0.5, ("b", 3)), ()): np.array(["a", "two words"]),
}


def job(trial):
    """What a trial returned: texts, numbers, arrays, one of them of another length in each
    trial.
    """
    return RESULT | {7: trial.rng("run").standard_normal((trial.number, 2)).astype(np.float32)}


def test_what_trials_return_comes_back_from_a_file(tmp_path):
    kept_in, rows = store.Store(tmp_path), [flat(job(Trial(0, number))) for number in range(4)]
    kept_in.keep(store.Job("a", job, {}, 0, 0, 4), store.Played(stacked(rows), np.ones(4)))
    _, kept = store.opened(tmp_path, "a")
    for number, again in enumerate(kept.results):
        before = job(Trial(0, number))
        assert list(again) == list(before) and list(again[0.5]) == ["arms", "seconds"]
        assert repr(again["GP-UCB/5"]) == repr(before["GP-UCB/5"])
        for key, leaf in rows[number].items():
            assert kept.trial(number)[key].dtype.kind == leaf.dtype.kind
            np.testing.assert_array_equal(kept.trial(number)[key], leaf)


def test_a_table_is_its_columns_and_its_named_index_and_a_row_has_attributes():
    table = pd.DataFrame(
        {"regret": [0.5, 1.5], "rule": ["EI", "UCB"]}, pd.Index([10, 20], name="t")
    )
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
        (
            {"policies": {"EI": Run(np.where(ARMS == 500, 7, ARMS), np.ones(3))}},
            "policies/EI/arms, at 501",
            np.inf,
        ),
        ({"policies": {"EI": Run(ARMS, np.zeros(3))}}, "", 0),  # seconds
        (
            {"policies": {"EI": Run(ARMS[:3], np.ones(3))}},
            "policies/EI/arms, of shape (600,) before, (3,) now",
            np.inf,
        ),
        ({"gain": 1 + 1e-12}, "", 0),
        ({"gain": 1 + 1e-6}, "gain", 1e-6),
        ({"gain": np.nan}, "gain", np.inf),
        ({"n": 10**15 + 1}, "n", np.inf),
        ({"name": "y"}, "name", np.inf),
        ({"totals": np.float32([1, 2 + 5e-7])}, "", 0),
        ({"totals": np.float32([1, 2.5])}, "totals, at 2", 0.2),
        ({"more": 1}, "names: more", np.inf),
    ],
)
def test_a_difference_has_its_first_place_and_size(change, place, share):
    found = leaf_differences(flat(BEFORE), flat(BEFORE | change))
    assert found == ({place: pytest.approx(share, rel=1e-3)} if place else {})


@pytest.mark.parametrize(
    ("results", "words"),
    [
        ([{"runs": [b"ab"]}], "bytes at 'runs/0': it must return numbers, texts, arrays"),
        ([{"a": 1.0}, {"a": [1.0]}], "trial 1 returned other names than trial 0, .*must be"),
        ([{"a": 1.0}, {"a": 1.0}, {"a": 1.0, "b": 2.0}], "trial 2 returned other names"),
        ([{1: 1.0, "1": 2.0}], "two values of one name"),
        ([{"seconds of a trial": 1.0}], "two values of one name"),
    ],
)
def test_what_cannot_be_kept_is_refused(tmp_path, results, words):
    job = store.Job("a", None, {}, 0, 0, len(results))
    with pytest.raises(ValueError, match=words):
        store.Store(tmp_path).keep(
            job, store.Played(stacked([*map(flat, results)]), np.ones(len(results)))
        )
