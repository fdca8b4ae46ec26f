"""The next claims on BKB: what they read of stored runs, and words on both sides of their limits.
New measures and problems, beside what they must equal.
"""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from tiny import Shown
from traces import curve_of

from kbrepro.bandits.kernels import SquaredExponential, grid
from kbrepro.bandits.posterior import RowPosterior
from kbrepro.bandits.problems import GPDraw, RKHSFunction, Trial
from kbrepro.claims.tables import Kept, Table
from kbrepro.papers.bkb import measures, pictures
from kbrepro.papers.bkb.measures import uniform_pulls
from kbrepro.papers.bkb.next import claims, experiments
from kbrepro.papers.bkb.problems import GaussianRKHSFunction

KERNEL, POINTS, NOISE = SquaredExponential(0.07), grid(60), 0.01
SOURCE = GPDraw(KERNEL, POINTS, NOISE)


def test_the_noise_is_gaussian_and_the_functions_are_the_same():
    how = SquaredExponential(0.2), grid(30), NOISE
    ours = GaussianRKHSFunction(*how, norm=2.0)(Trial(3, 1))
    bounded = RKHSFunction(*how, norm=2.0)(Trial(3, 1))
    np.testing.assert_array_equal(ours.expected_reward, bounded.expected_reward)
    rng = np.random.default_rng(1)
    noise = np.array([ours.pull(0, rng) for _ in range(4000)]) - ours.expected_reward[0]
    assert noise.std() == pytest.approx(0.1, rel=0.05)
    assert (np.abs(noise) > 0.1).mean() == pytest.approx(0.317, abs=0.03)
    assert ours.model.norm == 2.0 and ours.model.noise_scale == pytest.approx(0.1)


def test_a_label_that_a_reading_names_follows_the_rule_of_a_load():
    def load(kept):
        return {("b, far", "total"): np.ones(3), ("a", "total"): np.zeros(3)}

    readings = {
        "rule": {"one": {}, "two": {"a": "b"}},
        "place": {"near": {}, "far": {"*": "*, far"}},
    }
    table = Table("t", readings=readings, load=load)
    kept = Kept("nowhere")
    assert table.under(kept, {"rule": "two", "place": "far"}).column("a", "total")[0] == 1
    assert table.under(kept, {}).column("a", "total")[0] == 0


def brute_force(pulls, chance, uniform):
    """Worst ratio, either way, of the DTC variance on the pulls that are included."""
    members = POINTS[np.unique(pulls[uniform < chance])]
    X = POINTS[pulls]
    nystrom = KERNEL(POINTS, members) @ np.linalg.pinv(KERNEL(members, members), rcond=1e-13)
    Q = nystrom @ KERNEL(members, X)
    inner = nystrom @ KERNEL(members, POINTS)
    at_pulls = inner[np.ix_(pulls, pulls)]
    solved = np.linalg.solve(at_pulls + NOISE * np.eye(len(pulls)), Q.T)
    variance = 1 - np.einsum("ij,ji->i", Q, solved)
    exact = np.linalg.solve(KERNEL(X, X) + NOISE * np.eye(len(X)), KERNEL(X, POINTS))
    ratio = variance / (1 - np.einsum("ij,ij->j", KERNEL(X, POINTS), exact))
    return max(ratio.max(), 1 / ratio.min())


def test_dictionaries_without_and_with_the_newest_pull():
    trial = Trial(4, 2)
    found = measures.newest_pull(SOURCE, uniform_pulls, [12], 2.0, trial)
    rng = trial.rng("run")
    pulls = uniform_pulls(rng, POINTS, 12)
    uniform = rng.random(12)
    exact = RowPosterior(KERNEL, POINTS, NOISE)
    for arm in pulls[:-1]:
        exact.update(arm, 0.0)
    without = brute_force(pulls, 2.0 * exact.variance[pulls] / NOISE, uniform)
    exact.update(pulls[-1], 0.0)
    after = brute_force(pulls, 2.0 * exact.variance[pulls] / NOISE, uniform)
    assert found["without"] == pytest.approx(without, rel=1e-4)
    assert found["with"] == pytest.approx(after, rel=1e-4)


def test_the_dictionary_at_the_end_is_that_of_the_sizes():
    source = experiments.smooth(40, 2, NOISE, 5)
    bkb = experiments.rules(0.1, 2.0)["BKB"]
    end = measures.dictionary_at_end(source, bkb, 120, Trial(5, 1))
    sizes = measures.sizes_of_steps(source, bkb, 120, Trial(5, 1))
    assert end["members"] == sizes["members"].iloc[-1]
    assert 0 <= end["left out"] <= end["often"] <= 120 // measures.OFTEN


def starved(worst):
    """Kept seeds of Fig. 1 with one posterior at one t."""
    rows = [("BKB", f"qbar={q}", t, ratio, 1.0, t) for (q, t), ratio in worst.items()]
    frame = pd.DataFrame(rows, columns=["name", "setting", "t", "starved", "inflated", "members"])
    return frame.assign(seed=0)


def test_accuracy_by_qbar_asks_for_all_panels(checked, styled):
    one = starved({(1, 6): 1.0, (1, 63): 3.1, (2.5, 6): 2.9, (2.5, 63): 1.0})
    two = starved({(1, 6): 1.0, (1, 63): 1.0, (2.5, 6): 1.0, (2.5, 63): 1.0}).assign(seed=1)
    close, members = measures.accuracy_by_qbar([one, two])
    assert close.to_dict() == {1.0: 0.5, 2.5: 1.0} and members.to_dict() == {1.0: 63, 2.5: 63}
    tables = [pd.DataFrame({"each pull": column, "other": column}) for column in (close, members)]
    checked(pictures.accuracy(*tables))


def test_streaming_dictionaries_can_be_left_out():
    how = SOURCE, uniform_pulls, [5, 20], [2.0], {"RFF": [10], "QFF": []}, 0.5
    table = measures.starvation(*how, Trial(5, 0), streaming=False)
    with_them = measures.starvation(*how, Trial(5, 0))
    assert "BKB, streaming" in set(with_them["name"]) - set(table["name"])
    assert set(table["name"]) >= {"exact", "BKB", "SoR", "RFF"}


@pytest.mark.parametrize(
    ("sizes", "holds"),
    [
        ((0.01, 0.04, 0.12, 0.3, 0.6, 0.9), True),  # 4, 3, 2.5; the rest is limited by the pulls
        ((0.01, 0.04, 0.12, 0.33, 0.9, 0.9), True),
        ((0.01, 0.03, 0.09, 0.27, 0.6, 0.9), False),  # exponential
        ((0.01, 0.02, 0.06, 0.1, 0.12, 0.13), False),
        ((0.1, 0.2, 0.34, 0.3, 0.3, 0.3), False),  # too few cases
    ],
)
def test_the_growth_of_the_dictionary_must_fall_in_every_step(sizes, holds):
    columns = {(f"d = {d}", "of pulls"): np.array([size]) for d, size in enumerate(sizes, start=1)}
    shown = Shown(columns)
    assert claims.the_dictionary_is_less_than_exponential.predicate(shown) == holds


def test_exact_rules_have_the_same_regret_with_both_dictionaries():
    curve = curve_of(np.array([[0, 1, 1]]), np.array([[2.0, 1.0, 1.0]]))
    problem = SimpleNamespace(points=np.zeros((5, 1)))
    by_label = {
        "regret": {"exact": curve, "exact, 3 sd": curve, "BKB, qbar=2": curve},
        "regret, other radii": {"BKB, Theorem 2's radius": curve},
        "regret, distinct arms": {"BKB, qbar=2": curve},
    }
    kept = SimpleNamespace(
        traces=by_label.get, experiment=lambda label: SimpleNamespace(problem=problem)
    )
    columns = claims.regrets_and_steps(kept)
    assert columns["BKB, qbar=2, distinct arms", "step"] == (5 + 2) * 2**2
    assert columns["exact, distinct arms", "step"] == columns["exact", "step"] == 5 * 3**2
    assert columns["exact, 3 sd, distinct arms", "total"] == 4
