"""What footnote 11 excludes, and runs above their bound."""

from types import SimpleNamespace

import numpy as np
from kept_trials import kept_in, view

from kbrepro.papers.igp_ucb import claims


def test_footnote_11_excludes_what_one_panel_can_tell_apart():
    """Light alone refutes the margins 0.01 and 0.03; the whole of the figures, no margin."""
    kept = kept_in("02")
    excluded = claims.told_apart(kept)
    assert {*excluded} == {"margin 0.01", "margin 0.03", "no margin"}
    for value in claims.INCUMBENT["EI and PI"]:
        fig = view(claims.fig4b, kept, **{"EI and PI": value})
        assert bool(claims.indistinguishable_in(fig).item()) == (value not in excluded)


def test_runs_above_a_bound_and_the_room(monkeypatch):
    """One of two runs of one label is above 4, where the median is 2.5, and none of the other."""
    totals = {"a": np.array([0.0, 5.0]), "b": np.array([3.0, 3.0])}
    played = SimpleNamespace(problem=lambda trial: SimpleNamespace(model=4.0), horizon=2)
    planned = SimpleNamespace(experiment=played, seed=0, trials=2)
    kept = SimpleNamespace(parameters={"delta": 0.1}, planned=lambda label: planned)
    kept.column = lambda label, *_: totals[label]
    monkeypatch.setattr(claims, "PROVED", [*totals])
    monkeypatch.setattr(claims.measures, "theorem_3_bound", lambda model, *_: model)
    assert claims.regret_of_igp_ucb.check(kept) == (1, 2, 0.1, 0.625)


def test_where_the_paper_says_the_contrary_is_no_case_and_each_place_needs_half():
    """GP-UCB over IGP-UCB by panel, light last: half of the synthetic ones and light are enough."""

    def holds(*ratios):
        panels = [{"IGP-UCB": np.array([1.0]), "GP-UCB": np.array([ratio])}.get for ratio in ratios]
        return claims.improves_on_both.predicate(*panels).item()

    assert claims.fig4a not in claims.improves_on_both.tables()
    assert holds(2, 2, 2, 1, 1, 1, 2) and not holds(2, 2, 1, 1, 1, 1, 2)
    assert not holds(2, 2, 2, 2, 2, 2, 1.1)
