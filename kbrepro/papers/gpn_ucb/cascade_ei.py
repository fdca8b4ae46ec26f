"""cEI of Kusakawa et al. (2022), as Li & Scarlett ran it (L.2), by samples and exact."""

from collections.abc import Callable
from functools import partial

import numpy as np

from kbrepro.bandits.policies.base import Seed
from kbrepro.bandits.policies.improvement import log_expected_improvement
from kbrepro.papers.gpn_ucb.network import NetworkModel
from kbrepro.papers.gpn_ucb.policies import ChainPolicy
from kbrepro.papers.gpn_ucb.posterior import HALF_WIDTH, STEP, TABLE_POINTS, interpolate, stencil
from kbrepro.typing import Array

#: Spacing of the trapezoid rule's nodes for the standard normal.
NODE_STEP = 0.4
#: Reach of the nodes: the tails beyond are below 1e-9 each.
NODE_REACH = 6.0
#: How many sds the first normal may have: STEP, 2 STEP, ..., 1.28.
N_SMOOTHED = 8
#: How many times finer the table is that sampling looks up linearly.
FINE = 16
#: Arms sampled together: their samples fit the cache of a processor.
CHUNK = 16


def normal_average(
    smoothed: Array, mean: Array, sd: Array, value: Callable[[Array], Array]
) -> Array:
    """Return E[v(N(mean, sd))], (A,), for means and sds (A,), v = `value`.

    `smoothed`: what `smooth` returns of v's table. v dips to nearly 0 at every observed input, more
    narrowly than any sd but the smallest. So N(mean, sd) is split: a first normal, of 3/8 to 3/4 of
    the sd, is averaged over on the table (one table per power of two), and what is left, which is
    smooth, by the trapezoid rule with nodes NODE_STEP of the rest apart. Where the sd is too small
    for the table to tell (below STEP / 0.75) v itself is called at the nodes.
    """
    # -1: no first normal
    level = np.floor(np.log2(np.maximum(0.75 * sd / STEP, 0.5))).astype(int)
    level = np.minimum(level, N_SMOOTHED - 1)
    nodes = np.arange(-NODE_REACH, NODE_REACH + NODE_STEP / 2, NODE_STEP)
    weights = np.exp(-0.5 * nodes**2)
    weights = weights / weights.sum()
    average = np.empty(len(mean))
    for j in np.unique(level):
        arms = level == j
        rest = sd[arms]
        if j >= 0:
            rest = np.sqrt(rest**2 - (STEP * 2.0**j) ** 2)
        z = mean[arms, None] + rest[:, None] * nodes
        if j >= 0:
            values = interpolate(smoothed[j], stencil(z))
        else:
            values = value(z.ravel()).reshape(z.shape)
        average[arms] = values @ weights
    return average


def smooth(table: Array) -> Array:
    """Return the averages (N_SMOOTHED, n) of a table (n,) over normals of sd STEP 2^j."""
    pad = len(table) // 2
    padded = np.pad(table, pad, mode="edge")
    frequency = 2 * np.pi * np.fft.rfftfreq(len(padded))
    sds = 2.0 ** np.arange(N_SMOOTHED)[:, None]
    damping = np.exp(-0.5 * (frequency * sds) ** 2)
    averages = np.fft.irfft(np.fft.rfft(padded) * damping, len(padded), axis=1)
    return averages[:, pad : pad + len(table)]


class ExactCascadeEI(ChainPolicy):
    """cEI (eq. 286): the expected improvement of the chain's last output, drawn layer by layer.

    The expectation is computed by nested one-dimensional quadrature from the last layer to the
    first: v_m(z) = E max(f_m(z) - best, 0) in closed form, v_i(z) = E v_(i+1)(f_i(z)), cEI(x) = E
    v_2(f_1(x)); f_i(z) is normal with the posterior mean and sd of its layer. The posteriors of the
    layers are independent, as in eq. 286's samples.
    """

    def index(self) -> Array:
        if self.t == 1:
            return np.zeros(self.model.n_arms)
        with np.errstate(divide="ignore", under="ignore"):
            return np.log(self.expected_improvement())

    @property
    def best_reward(self) -> float:
        """The largest reward seen."""
        return max(observation[-1] for observation in self.history.rewards)

    def expected_improvement(self) -> Array:
        """Return cEI of every arm, (A,), after the first pull."""
        last = len(self.model.widths) - 1
        smoothed: dict[int, Array] = {}

        def value(i: int, z: Array) -> Array:
            mean, sd = self.posterior.at(i, z)
            if i == last:
                return np.exp(log_expected_improvement(mean, sd, self.best_reward))
            return normal_average(smoothed[i + 1], mean, sd, partial(value, i + 1))

        for i in range(last, 0, -1):
            smoothed[i] = smooth(value(i, TABLE_POINTS[:, 0]))
        average = normal_average(smoothed[1], *self.posterior.first(), partial(value, 1))
        return np.maximum(average, 0.0)


class SampledCascadeEI(ExactCascadeEI):
    """cEI by `samples` draws per arm (eqs. 287-288), every draw of every arm independent.

    Mean and sd of a layer come from a table of its posterior, refined 16-fold by cubics and looked
    up linearly: besides the error of the cubics (`interpolate`) at most h^2/8 max |f''| with h =
    0.01 / 16, 2e-7 in the mean and 3e-7 in the variance (|f''| <= B sqrt(3) and 2 + 2 sqrt(3)).
    Samples are in single precision, from a generator that is faster than the policy's and seeded by
    it, since they take most of a round's time.
    """

    def __init__(
        self, model: NetworkModel, horizon: int | None = None, *, samples: int, rng: Seed = 0
    ) -> None:
        super().__init__(model, horizon, rng=rng)
        self.samples = samples

    def expected_improvement(self) -> Array:
        fast = np.random.SFC64(self.rng.integers(2**63))
        normal = np.random.Generator(fast).standard_normal
        estimate = np.zeros(self.model.n_arms)
        later = self.posterior.posteriors[1:]
        tables = [_fine(layer.mean[:, 0], layer.variance) for layer in later]
        mean, sd = (part.astype(np.float32)[:, None] for part in self.posterior.first())
        for start in range(0, len(estimate), CHUNK):
            part = slice(start, start + CHUNK)
            shape = (len(estimate[part]), self.samples)
            drawn = mean[part] + sd[part] * normal(shape, dtype=np.float32)
            for table in tables:
                drawn = _draw(table, drawn, normal(shape, dtype=np.float32))
            estimate[part] = np.maximum(drawn - np.float32(self.best_reward), 0).mean(axis=1)
        return estimate


def _fine(mean: Array, variance: Array) -> Array:
    """Return a table (n,) of mean and variance, refined FINE-fold, as rows (4, m) of singles.

    They are mean, sd, and how far each goes to its next entry, 0 for the last.
    """
    n = (len(mean) - 1) * FINE + 1
    at = stencil(np.linspace(-HALF_WIDTH, HALF_WIDTH, n))
    variance = np.maximum(interpolate(variance, at), 0)
    rows = np.stack([interpolate(mean, at), np.sqrt(variance)])
    return np.concatenate([rows, np.diff(rows, append=rows[:, -1:])]).astype(np.float32)


def _draw(fine: Array, z: Array, normal: Array) -> Array:
    """Return mean(z) + sd(z) normal, looked up linearly, all in single precision."""
    end = fine.shape[1] - 1
    u = (z + np.float32(HALF_WIDTH)) * np.float32(end / (2 * HALF_WIDTH))
    np.clip(u, 0, end, out=u)
    left = u.astype(np.intp)
    u -= left.astype(np.float32)
    # "clip" spares a look at each
    mean, sd, mean_step, sd_step = (row.take(left, mode="clip") for row in fine)
    mean += np.multiply(u, mean_step, out=mean_step)
    sd += np.multiply(u, sd_step, out=sd_step)
    return np.add(mean, np.multiply(normal, sd, out=sd), out=mean)
