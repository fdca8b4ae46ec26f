"""Acquisition rules that draw from the posterior of finitely many arms, without a factorisation per
round.
"""

from kbrepro import checks
from kbrepro.bandits.policies.base import EVERYTHING, Policy
from kbrepro.bandits.policies.improvement import z_score
from kbrepro.bandits.policies.ucb import UCB
from kbrepro.bandits.posterior import (
    DRAWS,
    FEW,
    CovariancePosterior,
    DistinctPosterior,
    LatticePosterior,
    PulledPosterior,
    check_noise,
    lattice_posterior,
)
from kbrepro.bandits.problems import prior_draws
from kbrepro.typing import Array

#: Bytes a pair of arms: the covariance, and what is made on the way to the factor that draws.
BYTES = 8.0 + checks.KERNEL_BYTES
Drawing = CovariancePosterior | PulledPosterior


class Sampling(Policy):
    """A policy that draws functions from its posterior.

    `form` is CovariancePosterior or LatticePosterior; by default the lattice form where it is
    possible, else the covariance of up to FEW arms, and of more one row a distinct arm until half
    of them were pulled, or always if the covariance does not fit.

    On a lattice every second draw is left over from the one before: to go on later the policy must
    be saved. Elsewhere arms, rewards and the generator's state will do.
    """

    takes = EVERYTHING
    looks_ahead = False
    posterior: Drawing

    def prior(self, horizon: int | None) -> Drawing:
        model, form = self.model, self.form
        if form not in (None, CovariancePosterior, LatticePosterior):
            raise checks.refused(
                "form", form, "CovariancePosterior or LatticePosterior for a policy that draws"
            )
        dense = form is CovariancePosterior
        posterior = None if dense else self.made(form or lattice_posterior)
        if posterior:
            posterior.make_room(horizon or 1)
        else:
            check_noise(model.noise_variance, self.prior_sd**2, DRAWS)
            dense = dense or model.n_arms <= FEW
            if dense:
                other = " off a lattice, or a policy that does not draw, with a horizon"
                checks.pairs(model.n_arms, "points: a covariance for draws", BYTES, other=other)
            posterior = self.made(CovariancePosterior if dense else DistinctPosterior)
            posterior.use = DRAWS
        self._draw_from_prior = prior_draws(model.kernel, model.points)
        return posterior

    def deviation(self) -> Array:
        """Return one draw (A,) of f - mean from the posterior (Matheron's rule).

        Let f be drawn from the prior, of covariance C0, n the pulls of each arm (each counts s2
        over its own noise variance) and s2 the noise variance, so that C = (C0^-1 + diag(n) /
        s2)^-1. With z standard normal,

            f - C (n f / s2 + sqrt(n / s2) z) = C C0^-1 f - C sqrt(n / s2) z

        has the covariance C C0^-1 C + C diag(n) / s2 C = C (C0^-1 + diag(n) / s2) C = C. It is f
        minus the posterior mean after noisy observations of f (`mean_given`), so C0 need not be
        invertible. One round costs O(A^2), on a large lattice O(A log A), and no A x A array is
        made. What is pending changes no draw.
        """
        prior = self._draw_from_prior(self.rng)
        return prior - self.posterior.mean_given(prior, self.rng.standard_normal(len(prior)))


class ThompsonSampling(Sampling, UCB):
    """GP-TS: the best arm of one draw from N(mean, width^2 covariance) (Chowdhury & Gopalan,
    Algorithm 2).
    """

    def index(self) -> Array:
        return self.centred() + self.checked_width() * self.deviation()


class SampledMaximum(Sampling):
    """A policy that improves on the largest value of one draw from the posterior."""

    unit = 1.0  # of a logarithm and of a z score

    def target(self) -> float:
        """Return the largest value of one draw, less `level`."""
        return float((self.centred() + self.deviation()).max())


class PIMS(SampledMaximum):
    """PIMS: the arm most likely to exceed the maximum g of one draw, by (mean - g) / sd.

    The acquisition rule of Takeno et al. (2024), arXiv 2311.03760: no parameter, and a bound on the
    expected regret for functions drawn from the prior.
    """

    def index(self) -> Array:
        return z_score(self.centred(), self.posterior.sd, self.target())
