"""Theorems of paper 1: runs that fail them."""

from types import SimpleNamespace

import numpy as np

from kbrepro.papers.gp_ucb import claims


def test_a_run_fails_its_theorem_by_its_regret_or_its_band(monkeypatch):
    """Four runs of two rounds: one holds, one is above the bound in its first round, two leave the
    band in one.
    """
    regret = np.array([[1.0, 4.0], [3.0, 3.0], [1.0, 1.0], [0.5, 0.5]])
    trace = SimpleNamespace(
        cumulative_regret=regret, band_ratio=np.array([[1, 1], [0, 1], [1.1, 0.5], [0, 1.1]])
    )
    bounds = {"Theorem 2": (None, None, np.array([2.0, 5.0]))}
    monkeypatch.setattr(claims.widths, "theorems", lambda *settings: bounds)
    parameters = {"delta": 0.1, "n_arms": 2, "horizon": 2}
    kept = SimpleNamespace(traces=lambda label: {"GP-UCB": trace}, parameters=parameters)
    checked = claims.regret_and_band("Theorem 2")(kept)
    assert checked == (3, 4, 0.1, 1.5)
