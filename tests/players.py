"""The policies of posterior.js, in its order, as kbrepro has them."""

from functools import partial

from kbrepro.confidence import Bayes, Improved, Tighter
from kbrepro.figures.live.moments import DELTA
from kbrepro.policies import UCB, ExpectedImprovement, MeanOnly, ProbabilityOfImprovement

POLICIES = {
    "GP-UCB": partial(UCB, width=Bayes(DELTA)),
    "GP-UCB/5": partial(UCB, width=Bayes(DELTA, divide_beta_by=5)),
    "IGP-UCB": partial(UCB, width=Improved(DELTA)),
    "IGP-UCB, tighter": partial(UCB, width=Tighter(DELTA)),
    "EI": ExpectedImprovement,
    "EI, noisy incumbent": partial(ExpectedImprovement, incumbent="noisy_reward"),
    "PI": partial(ProbabilityOfImprovement, margin=0.0),
    "PI, noisy incumbent": partial(ProbabilityOfImprovement, incumbent="noisy_reward", margin=0.0),
    "mean only": MeanOnly,
}
