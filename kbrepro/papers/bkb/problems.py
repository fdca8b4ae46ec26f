"""The problems behind the regret of BKB: functions of a known norm with Gaussian noise."""

from dataclasses import dataclass

from kbrepro.bandits.problems import Problem, RKHSFunction, Trial


@dataclass(frozen=True, eq=False)
class GaussianRKHSFunction(RKHSFunction):
    """Source of functions with exactly this RKHS `norm`, and noise normal with `noise_variance`.

    "Throughout the paper, we assume that the noise is i.i.d. Gaussian" (Calandriello et al.,
    Appendix A), of variance lambda (Section 2). The functions are those of `RKHSFunction`.
    """

    def __call__(self, trial: Trial) -> Problem:
        problem = super().__call__(trial)
        return Problem(problem.model, problem.expected_reward)
