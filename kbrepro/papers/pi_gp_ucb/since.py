"""What later theory changes in IGP-UCB: a noise variance that grows with the horizon, and one for any horizon."""

import math
from dataclasses import replace
from typing import Any

from kbrepro import checks
from kbrepro.confidence import Flynn2024
from kbrepro.policies import UCB
from kbrepro.problems import Model


def growing_variance(horizon: int, d: int, nu: float) -> float:
    """Return lambda = T^(d / (2 nu + 2 d)) (Whitehouse, Wu & Ramdas 2023)."""
    checks.positive_int(horizon=horizon, d=d)
    return horizon ** (d / (2 * nu + 2 * d))


class DoublingUCB(UCB):
    """IGP-UCB with the tighter width and lambda grown, for any horizon: its epochs double.

    Epoch k = 0, 1, ... has rounds 2^k .. 2^(k + 1) - 1, lambda as for the horizon 2^(k + 1), and instead of delta
    6 delta / (pi (k + 1))^2; all data are kept. Each epoch's lambda is fixed beforehand, so each band holds
    (`Flynn2024`), and the failures add up to delta at most. The posterior is made anew at the start of an epoch.
    """

    takes: tuple[str, ...] = ("allowed", "n", "pending")

    def __init__(self, model: Model, horizon: int | None = None, *, delta: float, nu: float, **settings: Any) -> None:
        checks.probability(delta=delta)
        self.delta, self.nu = delta, nu
        super().__init__(self._in_epoch(model, 0), horizon, width=Flynn2024(6 * delta / math.pi**2), **settings)

    def learn(self, arm: int, observation: float, noise_variance: float | None = None) -> None:
        """Take in what a pull of `arm` gave; IndexError on a bad arm, ValueError on a NaN."""
        super().learn(arm, observation)
        if self.t & (self.t - 1) == 0:
            epoch = self.t.bit_length() - 1
            self.model = self._in_epoch(self.model, epoch)
            self.width = Flynn2024(6 * self.delta / (math.pi * (epoch + 1)) ** 2)
            self.posterior = self.prior(self.t)
            for pair in (*zip(self.history.arms, self.history.rewards, strict=True), (arm, observation)):
                self.posterior.update(*pair)

    def _in_epoch(self, model: Model, epoch: int) -> Model:
        return replace(model, noise_variance=growing_variance(2 ** (epoch + 1), model.points.shape[1], self.nu))
