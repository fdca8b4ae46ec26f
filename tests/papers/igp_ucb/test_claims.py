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


def test_the_exponent_of_d_is_that_of_a_power_and_each_step_has_to_rise():
    """GP-TS over IGP-UCB in d = 1 to 4, in two experiments: of d^0.7, and with a step down."""

    def views(*ratios):
        totals = [{"IGP-UCB": np.full(2, 3.0), "GP-TS": 3 * np.array(pair)} for pair in ratios]
        return [lambda rule, _, of=of: of[rule] for of in totals]

    rising = [(2 * d**0.7, 2 * d**0.7) for d in (1, 2, 3, 4)]
    np.testing.assert_allclose(claims.exponent_of_d(*views(*rising)), 0.7)
    turned = [*rising[:3], (rising[3][0], rising[2][0])]
    held = claims.gp_ts_falls_behind_with_d.predicate(*views(*turned))
    assert held.tolist() == [True, False]


def test_a_wrong_kernel_costs_each_rule_with_a_band_somewhat_more():
    """Growth by 1.3 against 1.2 is somewhat more; GP-UCB, too, has to grow more, but not much."""

    def holds(**growth):
        def fig(rule, label):
            right = label in {right for right, _ in claims.TOLD}
            return np.array([1.0 if right else growth.get(rule.replace("-", "_"), 1.3)])

        return claims.somewhat_less_robust.predicate(fig).item()

    improving = {"EI": 1.2, "PI": 1.2}
    assert holds(**improving)
    assert not holds(**improving, GP_UCB=1.1) and not holds(**improving, GP_TS=1.5)
