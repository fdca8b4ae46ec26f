"""Every check lets the good values through and names argument, value and what is allowed for the bad ones."""

import math
from functools import partial

import numpy as np
import pytest

from kbrepro import checks

GOOD = [
    (checks.positive_int, [1, 7, np.int32(3)]),
    (checks.non_negative_int, [0, 1, np.int64(0)]),
    (checks.positive, [1, 1e-300, np.float32(2), np.int64(2)]),
    (checks.non_negative, [0, 0.0, 3]),
    (checks.probability, [1e-9, 0.5, np.float64(0.1)]),
    (checks.positive_ints, [[1], [3, np.int64(2)]]),
    (checks.finite_number, [-1.0, 0, np.float32(1)]),
    (partial(checks.at_least, 2), [2]),
    (partial(checks.one_of, ("a", "b")), ["b"]),
]
BAD = [
    (checks.positive_int, [0, -1, 1.0, 1e4, True, "1", None, np.float64(2), math.nan], "integer of at least 1"),
    (checks.non_negative_int, [-1, 0.0, False], "integer of at least 0"),
    (checks.positive, [0, 0.0, -1.0, math.inf, math.nan, True, "1", None], "finite number above 0"),
    (checks.non_negative, [-1e-300, math.inf, math.nan, False], "finite number of at least 0"),
    (checks.probability, [0, 1, 0.0, 1.0, -0.1, 1.1, math.nan, "0.5"], "strictly between 0 and 1"),
    (checks.positive_ints, [[], [0], [1.0], [True], (1, 2), 3], "non-empty list of integers of at least 1"),
    (checks.finite_number, [math.nan, math.inf, -math.inf, "0", None, True], "a finite number"),
    (partial(checks.at_least, 2), [1, 2.0], "integer of at least 2"),
    (partial(checks.one_of, ("a", "b")), ["c"], "one of 'a', 'b'"),
]


@pytest.mark.parametrize(("check", "value"), [(check, value) for check, values in GOOD for value in values])
def test_good_values_pass(check, value):
    assert check(some_name=value) is None


@pytest.mark.parametrize(
    ("check", "value", "allowed"), [(check, value, text) for check, values, text in BAD for value in values]
)
def test_bad_values_are_named(check, value, allowed):
    with pytest.raises(ValueError) as error:
        check(some_name=value)
    assert f"some_name = {value!r} is not allowed" in str(error.value) and allowed in str(error.value)


def test_the_first_bad_one_of_several_is_named():
    with pytest.raises(ValueError, match="second = 0"):
        checks.positive_int(first=1, second=0, third=-1)


def test_finite_array_names_the_place():
    checks.finite_array(K=np.zeros((2, 2)))
    with pytest.raises(ValueError, match=r"K\[1, 0\] = nan is not allowed: K must be finite"):
        checks.finite_array(K=np.array([[0.0, 1.0], [math.nan, math.inf]]))


def test_arm_index():
    for arm in (0, 4, np.int64(4)):
        checks.arm_index(arm, 5)
    for arm in (-1, 5, 1.0, True, None):
        with pytest.raises(IndexError, match=f"arm = {arm!r} is not allowed: arm must be an integer from 0 to 4"):
            checks.arm_index(arm, 5)
