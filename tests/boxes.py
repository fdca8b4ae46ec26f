"""Proofs by interval arithmetic: a sign on a whole range, box by box (python-flint; its users skip
without it).
"""

from collections import deque
from collections.abc import Callable
from fractions import Fraction
from typing import Any

#: So many boxes are looked at before a question stays open.
MOST = 20_000


def box(low: Any, high: Any) -> Any:
    """Return a ball that holds [low, high], ends as integers or exact fractions `fmpq`."""
    from flint import arb

    return arb(low).union(arb(high))


def positive(function: Callable[[Any], Any], low: Any, high: Any) -> bool | None:
    """Whether function > 0 on all of [low, high]: True and False are proved, None says that the
    boxes ran out.

    False needs one box on which the function is at most 0 throughout. Ends are text such as
    "0.343", read exactly.
    """
    boxes = deque([(exact(low), exact(high))])
    for _ in range(MOST):
        if not boxes:
            return True
        left, right = boxes.popleft()
        value = function(box(left, right))
        if value <= 0:
            return False
        if not value > 0:
            middle = (left + right) / 2
            boxes += [(left, middle), (middle, right)]
    return None


def exact(number: Any) -> Any:
    """Return a decimal text, an integer or a fraction as an exact fraction `fmpq`."""
    from flint import fmpq

    fraction = Fraction(number)
    return fmpq(fraction.numerator, fraction.denominator)
