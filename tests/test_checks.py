"""Every check lets the good values through and names argument, value and what is allowed for the
bad ones.
"""

import math
from functools import partial

import numpy as np
import pytest

from kbrepro import checks

#: Check, good values, bad values, what is allowed.
CASES = [
    (
        checks.positive_int,
        [1, np.int32(3)],
        [0, -1, 1.0, 1e4, True, "1", None, np.float64(2), math.nan],
        "integer of at least 1",
    ),
    (checks.non_negative_int, [0, np.int64(0)], [-1, 0.0, False], "integer of at least 0"),
    (
        checks.positive,
        [1, 1e-300, np.float32(2)],
        [0, 0.0, -1.0, math.inf, math.nan, True, "1", None],
        "finite number above 0",
    ),
    (
        checks.non_negative,
        [0, 0.0, 3],
        [-1e-300, math.inf, math.nan, False],
        "finite number of at least 0",
    ),
    (
        checks.probability,
        [1e-9, np.float64(0.1)],
        [0, 1, 0.0, 1.0, -0.1, 1.1, math.nan, "0.5"],
        "strictly between 0 and 1",
    ),
    (
        checks.positive_numbers,
        [[1], [1e-4, np.float64(2)]],
        [[], [0.0], [True], ["1"], "[0.1, 1]", (1.0, 2.0)],
        "papermill takes lists with -y 'name: [1, 2]'",
    ),
    (checks.texts, [["a"]], [[], "a", [1]], "non-empty list of texts"),
    (
        checks.finite_number,
        [-1.0, 0, np.float32(1)],
        [math.nan, math.inf, -math.inf, "0", None, True],
        "a finite number",
    ),
    (partial(checks.at_least, 2), [2], [1, 2.0], "integer of at least 2"),
    (partial(checks.one_of, ("a", "b")), ["b"], ["c"], "one of 'a', 'b'"),
]


@pytest.mark.parametrize(("check", "good", "bad", "allowed"), CASES)
def test_good_values_pass_and_bad_ones_are_named(check, good, bad, allowed):
    check(**{f"name_{n}": value for n, value in enumerate(good)})
    for value in bad:
        with pytest.raises(ValueError) as error:
            check(fine=good[0], some_name=value)
        assert f"some_name = {value!r} is not allowed" in str(error.value) and allowed in str(
            error.value
        )
