"""What later theory changes in IGP-UCB: a noise variance that grows with the horizon."""

from kbrepro import checks


def growing_variance(horizon: int, d: int, nu: float) -> float:
    """Return lambda = T^(d / (2 nu + 2 d)) (Whitehouse, Wu & Ramdas 2023)."""
    checks.positive_int(horizon=horizon, d=d)
    return horizon ** (d / (2 * nu + 2 * d))
