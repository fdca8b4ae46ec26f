"""Claims of paper 1: growth of gains, and runs that fail their theorem."""

from types import SimpleNamespace

import numpy as np

from kbrepro.papers.gp_ucb import claims, gain


def test_growth_is_that_after_a_hundred_pulls(monkeypatch):
    """Gains that grow by 1, 2 and 3 after T = 100; the pool is in the order of how many eigenvalues hold the trace."""
    gains = {n: (np.repeat([0.0, n], [100, 900]), np.ones(1)) for n in (1, 2, 3)}
    monkeypatch.setattr(claims, "greedy_gains", lambda kept: gains)
    columns = claims.growth_of_four_gains(None)
    assert [columns[n, "greedy"][0] for n in gains] == [1, 2, 3]
    assert columns[1, "eq. 8"] == np.diff(gain.spectral_bound(np.ones(1), claims.S2, 1000)[[99, 999]])
    spectra = {name: spectrum for name, (_, spectrum) in gain.four_gains(100, 1.0, 1, seed=0).items()}
    needed = [np.sum(spectrum.cumsum() < 0.99 * spectrum.sum()) for spectrum in spectra.values()]
    assert (*spectra,) == claims.fig3.pool and (np.diff(needed) < 0).all()


def test_a_run_fails_its_theorem_by_its_regret_or_its_band(monkeypatch):
    """Four runs of two rounds: one holds, one is above the bound in its first round, two leave the band in one."""
    regret = np.array([[1.0, 4.0], [3.0, 3.0], [1.0, 1.0], [0.5, 0.5]])
    trace = SimpleNamespace(cumulative_regret=regret, band_ratio=np.array([[1, 1], [0, 1], [1.1, 0.5], [0, 1.1]]))
    bounds = {"Theorem 2": (None, None, np.array([2.0, 5.0]))}
    monkeypatch.setattr(claims.widths, "theorems", lambda *settings: bounds)
    checked = claims.regret_and_band("Theorem 2")(SimpleNamespace(traces=lambda label: {"GP-UCB": trace}))
    assert checked == (3, 4, 0.1, 1.5)
