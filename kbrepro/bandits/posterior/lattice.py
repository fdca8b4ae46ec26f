"""The covariance K of a regular lattice of arms: products with it, the inverse among pulled arms,
draws from the prior.

A stationary kernel depends only on the lag of two arms, so K v is a convolution for any v: an FFT
on a torus twice as long (Fritz et al. 2009), exact to rounding. `posterior.LatticePosterior` is
made of these.
"""

import pickle
import zlib
from typing import Any, NamedTuple

import numpy as np
import scipy.fft

from kbrepro import checks
from kbrepro.bandits.kernels import declares, points_of, quiet
from kbrepro.typing import Array, Kernel

#: Arms from which on policies and draws look whether they are a lattice.
LATTICE_FROM = 10_000
#: Points are a lattice if each lies this close to its place, relatively to the extent of the axis.
ON_LATTICE = 1e-9
#: Pulls that wait until they enter the inverse in one matrix product, and rows in one of its
#: panels: few fit a cache.
PENDING, PANEL = 64, 256
#: Columns that one pass over the panels multiplies, from so many arms pulled on: fewer fit a cache.
COLUMNS, AHEAD_FROM = 16, 500
#: Share of the prior's variance that may be negative, hence clipped, in the spectrum of a draw.
CLIPPED = 1e-10
#: Places of half a torus, at most, and 64 an arm: a kernel that needs more is so smooth that its
#: factor is small.
LONGEST_TORUS = 2**25
#: Complex numbers that a draw transforms at once.
AT_ONCE = 2**22


class AlmostLattice(ValueError):
    """Arms at every combination of places on the axes that are no lattice all the same."""


class Lattice(NamedTuple):
    """A regular lattice: numbers of arms and steps along the axes; arms are numbered in C order."""

    shape: tuple[int, ...]
    step: tuple[float, ...]

    def lags(self, extent: tuple[int, ...]) -> Array:
        """Return the points (prod extent, d) at 0, 1, ... steps from the origin on every axis, in C
        order.
        """
        return points_of([step * np.arange(n) for step, n in zip(self.step, extent, strict=True)])


def lattice_of(points: Array) -> Lattice:
    """Return the lattice of points (A, d), such as those of `grid`; ValueError if they form none.

    Every axis needs equal steps, and the last axis must vary fastest.
    """
    points = np.asarray(points, dtype=float)
    sides = [np.unique(axis) for axis in points.T]
    shape = tuple(map(len, sides))
    if np.prod(shape) != len(points):
        raise ValueError(
            f"points are not a lattice: {len(points)} points, {shape} distinct values on the axes"
        )
    off = np.abs(points - points_of([np.linspace(side[0], side[-1], len(side)) for side in sides]))
    if (wrong := (off > ON_LATTICE * np.ptp(points, axis=0)).any(axis=0)).any():
        raise AlmostLattice(
            f"points are not a lattice, see axis {wrong.argmax()}: each axis must have equal steps"
            " in float64, and the last must vary fastest, as in `grid`"
        )
    return Lattice(
        shape, tuple(float(side[1] - side[0]) if len(side) > 1 else 0.0 for side in sides)
    )


# K v


def _stationary(kernel: Kernel, points: Array) -> Lattice:
    """Return the lattice of points; ValueError unless there is one, and the kernel declares that
    lags are enough.
    """
    lattice = lattice_of(points)
    if not declares(kernel, "stationary"):
        raise ValueError(
            f"kernel = {kernel!r} is not allowed on a lattice: its class must declare `stationary ="
            " True`"
        )
    return lattice


class PriorCovariance:
    """v (A,) -> K v (A,), K the covariance of the points of a lattice (A, d).

    A convolution on a torus of at least 2 n - 2 steps per axis, so that no lag wraps around. Known
    zeros are not transformed, and what is not needed is not transformed back. Raises ValueError if
    the points are no lattice or the kernel is not stationary, and MemoryError if it does not fit.
    """

    def __init__(self, kernel: Kernel, points: Array) -> None:
        lattice = _stationary(kernel, points)
        self._shape = lattice.shape
        self._torus = tuple(
            scipy.fft.next_fast_len(max(2 * n - 2, 1), real=True) for n in self._shape
        )
        checks.memory(
            24.0 * np.prod(self._torus),
            f"points: the convolution on a lattice of {self._shape} arms",
        )
        wrapped = kernel(lattice.lags(self._shape), np.zeros((1, len(self._shape)))).reshape(
            self._shape
        )
        for axis, (length, n) in enumerate(zip(self._torus, self._shape, strict=True)):
            lag = np.minimum(np.arange(length), length - np.arange(length))
            wrapped = np.moveaxis(np.take(wrapped, np.minimum(lag, n - 1), axis=axis), axis, -1) * (
                lag < n
            )
            wrapped = np.moveaxis(wrapped, -1, axis)
        # the lags are symmetric, so it is real
        self._spectrum = scipy.fft.rfftn(wrapped).real.copy()

    @quiet
    def __call__(self, v: Array) -> Array:
        """Return K v (A,) for v (A,)."""
        last = len(self._torus) - 1
        product = scipy.fft.rfft(v.reshape(self._shape), n=self._torus[-1], axis=last)
        for axis in reversed(range(last)):
            product = scipy.fft.fft(product, n=self._torus[axis], axis=axis, overwrite_x=True)
        product *= self._spectrum
        for axis in range(last):
            product = scipy.fft.ifft(product, axis=axis, overwrite_x=True)
            product = product[(slice(None),) * axis + (slice(self._shape[axis]),)]
        return scipy.fft.irfft(product, n=self._torus[-1], axis=last)[
            ..., : self._shape[-1]
        ].ravel()


# The arms that were pulled


class Precision(checks.Changing):
    """P = (K + diag(s2 / n))^-1 (m, m) of the m pulled arms: a sum of one q q^T per pull; its lower
    half, in panels.

    `PENDING` rows q are collected and enter in one matrix product. Nothing is ever subtracted, so
    nothing cancels. Until then products of the panels alone stay what they are, and may be kept.
    """

    def __init__(self) -> None:
        self._panels: list[Array] = []
        # when the panels changed, counted at both ends, and products with them since, by name
        self._turn = 0
        self._ahead: tuple[int, dict[int, Array]] = 0, {}
        self._pending: Array = np.zeros((PENDING, 0))
        self._n_pending, self._size = 0, 0

    def __getstate__(self) -> dict[str, object]:
        room = pickle.dumps((self._panels, self._pending))  # at first nearly all of it is zeros
        return vars(self) | {"_panels": zlib.compress(room, 1), "_pending": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        panels, pending = pickle.loads(zlib.decompress(state["_panels"]))
        vars(self).update(state, _panels=panels, _pending=pending)

    def make_room(self, m: int) -> None:
        """Raise MemoryError, in GB, unless m arms fit."""
        if m > (have := PANEL * len(self._panels)):
            what = f"points: a posterior on a lattice with up to {m} arms pulled"
            fits = f"up to {have or '{}'} of them"
            checks.memory(4.0 * (m**2 - have**2), what, fits, 4.0, 2)

    def add(self, q: Array) -> None:
        """Add q q^T, q (m,) or, with one arm more, (m + 1,)."""
        if len(q) > PANEL * len(self._panels):
            self.make_room(PANEL * (len(self._panels) + 1))
            pending = np.hstack([self._pending, np.zeros((PENDING, PANEL))])
            self._panels.append(np.zeros((PANEL, PANEL * (len(self._panels) + 1))))
            self._pending = pending
        self._size = len(q)
        self._pending[self._n_pending, : self._size] = q
        self._n_pending += 1
        if self._n_pending == PENDING:
            self._turn += 1
            for number, panel in enumerate(self._panels):
                rows = slice(number * PANEL, (number + 1) * PANEL)
                panel += self._pending[:, rows].T @ self._pending[:, : rows.stop]
            self._pending[:], self._n_pending = 0.0, 0
            self._turn += 1
            self._ahead = self._turn, {}

    def column(self, place: int) -> Array:
        """Return column `place` of P, (m,)."""
        first, size = place // PANEL, self._size
        parts = [
            self._panels[first][place % PANEL],
            *(panel[:, place] for panel in self._panels[first + 1 :]),
        ]
        pending = self._pending[: self._n_pending, :size]
        return np.concatenate(parts)[:size] + pending[:, place] @ pending

    def times(self, v: Array, name: int = -1) -> Array:
        """Return P v (m,) for v (m,); of a `name` that was looked ahead, without a pass over the
        panels.
        """
        size = self._size
        pending = self._pending[: self._n_pending, :size]
        found = (pending @ v) @ pending
        of_panels = self.ahead.get(name)
        if of_panels is None:
            of_panels = self._times_panels(v[None])[0]
        found[: len(of_panels)] += of_panels
        return found

    @property
    def ahead(self) -> dict[int, Array]:
        """Products that were looked ahead and still hold, by name."""
        turn, products = self._ahead
        return products if turn == self._turn else {}

    def look_ahead(self, names: list[int], V: Array) -> None:
        """Keep the products of the panels with V (n, m), by name, in one pass until they change,
        which another thread may do meanwhile.
        """
        turn, products = self._turn, self.ahead
        found = dict(zip(names, self._times_panels(V), strict=True))
        self._ahead = turn, {**products, **found}

    def _times_panels(self, V: Array) -> Array:
        """Return V times the panels (n, m), for V (n, m)."""
        size, found = V.shape[1], np.zeros_like(V)
        for number, start in enumerate(range(0, size, PANEL)):
            part = slice(start, min(start + PANEL, size))
            rows = self._panels[number][: part.stop - start]
            found[:, part] += V[:, : part.stop] @ rows[:, : part.stop].T
            found[:, :start] += V[:, part] @ rows[:, :start]
        return found


# Draws from the prior


class LatticeDraws:
    """Draws of f ~ GP(0, kernel) at the points (A, d) of a lattice: `draws(rng)` returns one (A,).

    The kernel is wrapped around a torus, on which its eigenvalues are a Fourier transform
    (circulant embedding). Some may be negative because the kernel is cut at half the torus; a torus
    is long enough if their share of the variance is below `CLIPPED`. Raises ValueError like
    `LatticePosterior`, and on a torus that is too long; MemoryError if it does not fit.
    """

    def __init__(self, kernel: Kernel, points: Array) -> None:
        lattice = _stationary(kernel, points)
        self._shape, times = lattice.shape, 1.0
        while True:
            half = tuple(
                scipy.fft.next_fast_len(int(np.ceil(times * max(n - 1, 1)))) for n in self._shape
            )
            cells = float(np.prod(np.array(half) + 1.0))
            if cells > LONGEST_TORUS + 64 * len(points):
                raise ValueError(
                    f"kernel = {kernel!r} is not allowed for draws on a lattice: it needs too long"
                    " a torus"
                )
            checks.memory(
                72.0 * cells, f"points: a draw from {kernel!r} on a torus of {cells:.2g} places"
            )
            values = kernel(lattice.lags(tuple(h + 1 for h in half)), np.zeros((1, len(half))))
            # those of frequencies 0 .. half on every axis; inside this range each counts twice
            eigenvalues: Array = scipy.fft.dctn(
                values.reshape([h + 1 for h in half]), type=1, overwrite_x=True
            )
            weights = np.ones(())
            for h in half:
                weights = np.multiply.outer(weights, np.r_[1.0, np.full(h - 1, 2.0), 1.0])
            if (weights * np.maximum(-eigenvalues, 0.0)).sum() <= CLIPPED * (
                weights * eigenvalues
            ).sum():
                break
            times *= 1.25
        self._half = half
        self._root = np.sqrt(np.maximum(eigenvalues, 0.0) / np.prod([2.0 * h for h in half]))
        self._left: Array | None = None

    @quiet
    def __call__(self, rng: np.random.Generator) -> Array:
        """Return one draw (A,); every second one is left over from the draw before it."""
        if self._left is not None:
            found, self._left = self._left, None
            return found
        torus = [2 * h for h in self._half]
        mirrored = [np.minimum(np.arange(length), length - np.arange(length)) for length in torus]
        window = tuple(slice(n) for n in self._shape[:-1])
        planes = np.empty((*self._shape[:-1], torus[-1]), dtype=complex)
        axes = tuple(range(len(torus) - 1))
        for part in np.array_split(np.arange(torus[-1]), np.prod(torus) // AT_ONCE + 1):
            root = self._root[np.ix_(*mirrored[:-1], mirrored[-1][part])]
            noise = root * rng.standard_normal(root.shape) + 1j * (
                root * rng.standard_normal(root.shape)
            )
            planes[..., part] = (
                scipy.fft.fftn(noise, axes=axes, overwrite_x=True) if axes else noise
            )[window]
        both = scipy.fft.fft(planes, axis=-1, overwrite_x=True)[..., : self._shape[-1]]
        self._left = both.imag.ravel()
        return both.real.ravel()
