"""Rates of the bounds on the regret in function networks (Li & Scarlett, Tables 1 and 2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kbrepro.kernels import Array
from kbrepro.papers.gpn_ucb.structures import FeedForward, MultiOutput


@dataclass(frozen=True)
class Rates:
    """Rates in T, constants 1 and logarithms dropped; every method returns the shape of T.

    m layers of norm B and Lipschitz constant L >= 1, Matérn smoothness `nu`, d inputs; `width` is d_2 = ... = d_m, 1
    for a chain.
    """

    structure: FeedForward | MultiOutput
    m: int
    norm: float
    lipschitz: float
    nu: float
    d: int
    width: int = 1

    def cumulative_lower(self, T: Array) -> Array:
        """Return the lower bound on R_T, nu >= 1 (c = 1)."""
        scale = self.norm * self.lipschitz ** (self.m - 1)
        if self.d > self.nu:
            return np.minimum(T, scale * np.power(T, 1 - self.nu / self.d))
        return np.minimum(T, scale ** (self.d / self.nu) * np.ones_like(T))

    def cumulative_upper(self, T: Array) -> Array:
        """Return GPN-UCB's bound on R_T if the conjecture of Vakili (2022) holds; d_max is max(d, width)."""
        widths = (self.width,) * (self.m - 1) + (1,)
        factor = self.structure.rate_factor(widths, self.norm, self.lipschitz)
        return factor * np.power(T, max(1 - self.nu / max(self.d, self.width), 0.0))

    def simple_lower(self, T: Array) -> Array:
        """Return the lower bound on the simple regret, nu >= 1."""
        return self.norm * self.lipschitz ** (self.m - 1) * np.power(T, -self.nu / self.d)

    def simple_upper(self, T: Array) -> Array:
        """Return non-adaptive sampling's bound on the simple regret of chains.

        nu <= 1: B L^(m-1) T^(-nu^m / d); nu > 1: B^(1 + nu + ... + nu^(m-2)) L^(nu^(m-1)) T^(-nu / d). (Table 2 omits
        the dots in the exponent.)
        """
        m, nu = self.m, self.nu
        if nu <= 1:
            return self.norm * self.lipschitz ** (m - 1) * np.power(T, -(nu**m) / self.d)
        exponent = sum(nu**i for i in range(max(m - 1, 1)))
        return self.norm**exponent * self.lipschitz ** (nu ** (m - 1)) * np.power(T, -nu / self.d)

    def simple_upper_restricted(self, T: Array) -> Array:
        """Return the same for means that stay in the layers' domains: B L^((m-1) max(nu, 1)) T^(-nu / d)."""
        return self.norm * self.lipschitz ** ((self.m - 1) * max(self.nu, 1.0)) * np.power(T, -self.nu / self.d)
