"""Checks on arguments: every error names the argument, its value and what is allowed, in at most
300 characters.
"""

import copy
import math
import reprlib
import warnings
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from functools import partial
from numbers import Real
from typing import Any, ClassVar, Self, TypeGuard

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from kbrepro.typing import Bools, Integers

#: Longest text of a value in a message.
LONGEST = 100
#: Bytes a pair of points while a kernel is called: its matrix and at most five that it makes on the
#: way.
KERNEL_BYTES = 48.0
_short = reprlib.Repr()
_short.maxstring = _short.maxother = _short.maxlong = LONGEST


def shown(value: object) -> str:
    """Return a value as a message shows it: arrays and tables by shape, all else in at most LONGEST
    characters.
    """
    shape = getattr(value, "shape", ())
    if isinstance(shape, tuple) and shape:
        return f"{type(value).__name__} of shape {shape}"
    text = _short.repr(value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


def refused(name: str, value: object, allowed: str) -> ValueError:
    """Return the error that names argument, value and what is allowed."""
    return ValueError(f"{name} = {shown(value)} is not allowed: {name} must be {allowed}")


def _check(allowed: str, is_allowed: Callable[[object], bool]) -> Callable[..., None]:
    """Return a check that takes values by name and raises ValueError unless every value is
    allowed.
    """

    def check(**values: object) -> None:
        for name, value in values.items():
            if not is_allowed(value):
                raise refused(name, value, allowed)

    check.__doc__ = f"Raise ValueError unless every value is {allowed}."
    return check


def _is_integer(value: object) -> TypeGuard[int]:
    if type(value) is int:
        return True
    # a union is slower
    return isinstance(value, (int, np.integer)) and not isinstance(value, (bool, np.timedelta64))


def _is_finite(value: object) -> TypeGuard[float]:
    try:
        return (_is_integer(value) or isinstance(value, float | np.floating)) and math.isfinite(
            value
        )
    except OverflowError:  # an integer beyond all floats
        return False


def _integers(minimum: int) -> Callable[..., None]:
    # a number of things fits into int64; a seed may be longer
    most = 2**63 if minimum else math.inf
    return _check(
        f"an integer of at least {minimum}",
        lambda value: _is_integer(value) and minimum <= value < most,
    )


def _listed(what: str, is_allowed: Callable[[object], bool]) -> Callable[..., None]:
    return _check(
        f"a non-empty list of {what} (papermill takes lists with -y 'name: [1, 2]')",
        lambda value: isinstance(value, list) and bool(value) and all(map(is_allowed, value)),
    )


finite_number = _check("a finite number", _is_finite)
positive = _check("a finite number above 0", lambda value: _is_finite(value) and value > 0)
non_negative = _check(
    "a finite number of at least 0", lambda value: _is_finite(value) and value >= 0
)
probability = _check(
    "a number strictly between 0 and 1", lambda value: _is_finite(value) and 0 < value < 1
)
positive_int, non_negative_int = _integers(1), _integers(0)
positive_numbers = _listed("finite numbers above 0", lambda value: _is_finite(value) and value > 0)
texts = _listed("texts", lambda value: isinstance(value, str))


function = _check("a function, or a class or object that can be called", callable)
source = _check(
    "a source, which makes the problem of a Trial; Known(problem) makes the same in all trials",
    callable,
)
policies = _check(
    'a mapping of names to policies, such as {"EI": ExpectedImprovement}, each made from (model,'
    " horizon, rng=generator)",
    lambda value: isinstance(value, Mapping) and bool(value) and all(map(callable, value.values())),
)


def seeded(*, rng: object) -> Generator:
    """Return the generator that is given, or one with this seed, None for one that nobody knows, as
    numpy and scipy do; ValueError on anything else.
    """
    if rng is None or isinstance(rng, Generator) or (_is_integer(rng) and rng >= 0):
        return np.random.default_rng(rng)
    raise refused("rng", rng, "a seed, an integer of at least 0, None, or a numpy Generator")


def having(allowed: str, *attributes: str, **values: object) -> None:
    """Raise ValueError unless every value is an object (no class) with these attributes."""
    _check(
        allowed, lambda v: not isinstance(v, type) and all(hasattr(v, name) for name in attributes)
    )(**values)


kernel = partial(
    having,
    "a kernel, such as Matern(0.2, nu=2.5): kernel(X, Z) and kernel.diag(X) are called",
    "__call__",
    "diag",
)
width = partial(
    having,
    "a width, such as Srinivas2010(0.1) or Constant(2.0), or a function of the policy",
    "__call__",
)


def at_least(minimum: int, **values: int) -> None:
    """Raise ValueError unless every value is an integer of at least `minimum` (no float such as
    1e4, no bool).
    """
    _integers(minimum)(**values)


def one_of(allowed: Collection[object], **values: object) -> None:
    """Raise ValueError unless every value is one of the allowed words."""
    _check(
        "one of " + ", ".join(map(repr, allowed)),
        lambda value: isinstance(value, str | int | float) and value in allowed,
    )(**values)


def finite_array(**values: np.ndarray) -> None:
    """Raise ValueError unless every entry of every array is finite; the message gives the first bad
    place.
    """
    for name, value in values.items():
        _every(np.isfinite(value), name, value, f"{name} must be finite", ValueError)


def _every(fine: Bools, name: str, value: np.ndarray, allowed: str, error: type[Exception]) -> None:
    """Raise an error that names the first place that is not fine."""
    if not fine.all():
        place = np.unravel_index(fine.argmin(), fine.shape)
        where = [*map(int, place)] or ""
        raise error(f"{name}{where} = {value[place]} is not allowed: {allowed}")


def array(
    name: str,
    value: object,
    ndim: int | None = None,
    *,
    finite: bool = True,
    copy: bool = True,
    least: int = 0,
) -> NDArray[np.float64]:
    """Return the numbers in `value` as one float64 array that nobody can change: the door for all
    arrays of users.

    Lists, Series and tables (by position), integers, bools, short floats, objects that are numbers
    and masked arrays without a masked entry are taken. Without `copy` an array that is float64
    already is returned as it is. Raises ValueError on anything else, on another `ndim`, on less
    than `least` rows and, if `finite`, on NaN or infinity.
    """
    if type(value) is np.ndarray and value.dtype == np.float64:
        found = np.array(value, order="C") if copy else value
    else:
        found = _converted(name, value)
    if ndim is not None and found.ndim != ndim:
        raise ValueError(f"{name} has shape {found.shape}: it must be {ndim}-dimensional")
    if least and (not found.ndim or found.size < least):
        raise ValueError(
            f"{name} has shape {found.shape}: it must have at least {least} rows or numbers"
        )
    if finite:
        finite_array(**{name: found})
    if copy:
        found.setflags(write=False)
    return found


def _numbers(value: object) -> np.ndarray | None:
    """Return bools, integers or floats as numpy reads them; None for anything else, and for what a
    mask hides.
    """
    with suppress(Exception):  # ragged lists
        for part in [value, *value] if isinstance(value, list | tuple) else [value]:
            # of bytes numpy would find codes of letters
            if isinstance(part, bytes | bytearray | memoryview) or np.ma.is_masked(part):
                return None
        found = np.asarray(value)
        if found.dtype == object and all(isinstance(x, Real | np.bool_) for x in found.flat):
            return np.array(found.tolist())  # fractions stay objects
        return found if found.dtype.kind in "biuf" else None
    return None


def _converted(name: str, value: object) -> NDArray[np.float64]:
    allowed = (
        "numbers in rows of one length, within float64, not masked: write texts and categories"
        " as columns of 0 and 1, and divide durations by a unit"
    )
    with suppress(OverflowError), np.errstate(all="ignore"):  # what is too large becomes infinite
        if (found := _numbers(value)) is not None:
            floats = np.array(found, dtype=np.float64, order="C")
            if found.dtype.kind not in "iuO" or len(np.unique(found)) == len(np.unique(floats)):
                return floats
            allowed = "distinct in float64, which holds integers up to 2**53: subtract an offset"
    raise refused(name, value, allowed)


def arms(n_arms: int, name: str, value: np.ndarray) -> None:
    """Raise IndexError, which names the first bad one, unless all in an array are arms in 0 ..
    n_arms - 1.
    """
    whole = value.dtype.kind in "iu"
    fine = (value >= 0) & (value < n_arms) if whole else np.zeros(value.shape, dtype=bool)
    _every(fine, name, value, f"it must be an integer from 0 to {n_arms - 1}", IndexError)


def chosen(
    n_arms: int, name: str, value: object, *, least: int = 1, once: bool = False, flags: bool = True
) -> Integers:
    """Return arms that are given as a mask (A,) of bools or as arm numbers: the door for all lists
    of arms.

    Where an arm counts `once`, None means all arms. Zeros and ones, one for each of three or more
    arms, are a mask, too, but where they are no `flags`: there pulls may look so, and of ten arms
    on they are warned of. Raises ValueError if there are fewer than `least`, IndexError on an arm
    out of range.
    """
    if value is None and once:
        return np.arange(n_arms)
    found = _numbers(value)
    if found is not None and found.shape == (n_arms,):
        binary = n_arms >= (3 if flags else 10) and ((found == 0) | (found == 1)).all()
        if found.dtype == bool or (flags and binary):
            found = np.flatnonzero(found)
        elif binary:
            said = f"{name} are {n_arms} zeros and ones: they count as arms 0 and 1; a mask has"
            warnings.warn(f"{said} bools, True and False", stacklevel=4)
    if found is None or found.ndim != 1 or len(found) < least:
        allowed = f"a list or array of arm numbers, or a mask of {n_arms} bools"
        raise refused(name, value, allowed + ", not empty" * least)
    arms(n_arms, name, found)
    return (np.unique(found) if once else found).astype(int)


def noise_variances(n: int, value: object) -> list[float | None]:
    """Return the noise variance of each of n rewards, of which None, one number for all, or n
    numbers are given; None, also in a list, is that of the model.

    ValueError unless all others are finite numbers above 0.
    """
    listed = isinstance(value, list | tuple) or getattr(value, "dtype", None) == np.dtype(object)
    values: Any = value if listed else [value] * n
    unsaid = [variance is None for variance in values]
    if any(unsaid):
        value = [1.0 if variance is None else variance for variance in values]
    found = per_arm(n, value, "noise_variance")
    _every(found > 0, "noise_variance", found, "noise_variance must be above 0", ValueError)
    return [None if own else noise for own, noise in zip(unsaid, found.tolist(), strict=True)]


def per_arm(n_arms: int, mean: object, name: str = "mean") -> NDArray[np.float64]:
    """Return a number, or one per arm, as a new array (A,); ValueError on anything else."""
    found = array(name, mean)
    if found.shape not in ((), (n_arms,)):
        raise ValueError(
            f"{name} has shape {found.shape}: it must be a number or ({n_arms},), one for each"
        )
    return np.zeros(n_arms) + found


def read_only(array: np.ndarray) -> np.ndarray:
    """Return a view of an array through which nobody can write."""
    view = array.view()
    view.setflags(write=False)
    return view


def _fixed(value: object) -> object:
    if type(value) is tuple:
        return tuple(map(_fixed, value))
    if isinstance(value, Mapping):
        return dict(value)
    return read_only(value) if isinstance(value, np.ndarray) else python_number(value)


class Checked:
    """A frozen dataclass: numpy scalars in its fields become Python numbers, which cannot overflow,
    arrays read-only, and mappings are copied.

    `checked` has by name the check of a field, or how many dimensions it has as an array; the
    default of a field is not checked, so that it may be None.
    """

    checked: ClassVar[Mapping[str, Callable[..., None] | int]] = {}

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            check = self.checked.get(name)
            if isinstance(check, int):
                value = array(name, value, check, least=1)
            elif check and value is not getattr(type(self), name, self):
                check(**{name: value})
            object.__setattr__(self, name, _fixed(value))

    # a pickle forgets that arrays are read-only
    def __setstate__(self, state: dict[str, object]) -> None:
        vars(self).update({name: _fixed(value) for name, value in state.items()})


class Changing:
    """What pulls change: a policy, a posterior, or what it keeps."""

    #: Names of what is replaced as a whole, put back otherwise, or only written where a copy does
    #: not look.
    shared: ClassVar[tuple[str, ...]] = ()

    def clone(self) -> Self:
        """Return a copy that no later pull reaches: of all in it that may be written into, too."""
        other = object.__new__(type(self))
        vars(other).update(
            {
                name: value if name in self.shared else _cloned(value)
                for name, value in vars(self).items()
            }
        )
        return other


def _cloned(value: Any) -> object:
    if isinstance(value, np.ndarray):
        return value.copy(order="K") if value.flags.writeable else value
    if type(value) in (list, tuple):
        return type(value)(map(_cloned, value))
    if isinstance(value, Generator):
        return copy.deepcopy(value)
    return value.clone() if isinstance(value, Changing) else value


def python_number(value: object) -> Any:
    """Return a numpy integer, float or bool as int, float or bool; anything else as it is."""
    return value.item() if isinstance(value, np.number | np.bool_) else value


def arm_index(arm: int, n_arms: int) -> None:
    """Raise IndexError unless `arm` is an integer in 0 .. n_arms - 1."""
    if not _is_integer(arm) or not 0 <= arm < n_arms:
        raise IndexError(
            f"arm = {shown(arm)} is not allowed: arm must be an integer from 0 to {n_arms - 1}"
        )


def memory(
    needed: float,
    what: str,
    fits: str = "",
    bytes_each: float = 1.0,
    power: int = 1,
    most: float = math.inf,
) -> None:
    """Raise MemoryError, with both sizes in GB, unless `needed` bytes are free; `what` begins with
    an argument.

    `fits` says what does fit, {} a number of things, at most `most`, that need `bytes_each` times
    its `power`.
    """
    import psutil  # here: `import kbrepro` loads numerics only

    free = psutil.virtual_memory().available
    if needed > free:
        message = f"{what} needs {needed / 1e9:.3g} GB of memory, but {free / 1e9:.3g} GB are free"
        number = int(min((free / bytes_each) ** (1 / power), most))
        raise MemoryError(f"{message}: what fits is {fits.format(number)}" if fits else message)


def pairs(A: int, what: str, bytes_each: float = KERNEL_BYTES, *, other: str = "") -> None:
    """Raise MemoryError unless `bytes_each` a pair of A arms fit; it says how many arms do."""
    memory(bytes_each * A**2, f"{what} of {A} arms", "up to {} arms" + other, bytes_each, 2)
