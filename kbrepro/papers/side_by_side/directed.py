"""Deterministic information-directed sampling: the squared loss that a pull may cost over the information it gives."""

import numpy as np

from kbrepro.kernels import Array
from kbrepro.policies import UCB


class DirectedSampling(UCB):
    """Deterministic IDS: the arm of least gap^2 / gain, ranked by the logarithm.

    Kirschner & Krause (2018), arXiv 1801.09667, with gap(x) = (largest upper bound) - (lower bound of x), the most that
    x may lose while the band holds, and gain(x) = 1/2 log(1 + variance(x) / lambda), the information of a pull of x
    about f (nats). Their random mixtures of two arms and other gains are not played here.

    The arm of GP-UCB has gap 2 width sd, and this rule's ratio is at most that arm's. So sum gap <= sqrt(T sum of
    ratios x gains) is bounded as for GP-UCB with the same `width`: no better rate is proved where all noise is alike.
    """

    unit = 1.0  # of a logarithm

    def index(self) -> Array:
        mean, reach = self.posterior.mean, self.width(self) * self.posterior.sd
        gap = (mean + reach).max() - (mean - reach)
        gain = 0.5 * np.log1p(self.posterior.sd**2 / self.model.noise_variance)
        told, free = gain > 0, gap <= 0  # an arm without a gap is the best for certain
        index = np.where(free, np.inf, -np.inf)
        index[told & ~free] = np.log(gain[told & ~free]) - 2 * np.log(gap[told & ~free] / self.prior_sd)
        return index
