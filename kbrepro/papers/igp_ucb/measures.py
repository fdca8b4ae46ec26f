"""What judges each claim on IGP-UCB and GP-TS: from played trials to an estimate of every part.

A *panel* is {rule: R_T / T of every trial (n,)}; *panels* are all of them by (figure, title), as in ("1", "(a) SE") or
("4", "light"), of which a claim takes those that it is about. *Five* are the names of the paper's rules, as `pool`
returns them. How much *more* regret a rule has is its mean less the rival's, as a share of the rival's.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import combinations, product
from typing import Any

import numpy as np

from kbrepro.kernels import Array
from kbrepro.papers.igp_ucb.experiments import INTERPRETATIONS, OURS, log_exponent, pool
from kbrepro.problems import Problem, Trial
from kbrepro.regret import (
    FEWEST,
    Estimate,
    Trace,
    block_length,
    bootstrap,
    exact,
    farthest,
    intervals,
    largest,
    paired_share,
    ratio,
    share,
    weakest,
)
from kbrepro.verdicts.interpretations import cross

Key = tuple[str, str]
Panel = Mapping[str, Array]
Panels = Mapping[Key, Panel]
Judged = dict[str, Estimate]
Choices = Mapping[str, Sequence[Any]]
#: By panel, then by norm, lambda, scaling and horizon.
Interpreted = Mapping[Key, Mapping[tuple[Any, ...], Panel]]

#: Part of a claim -> the five rules that it is about.
POOLS = {part: pool(*case) for part, case in INTERPRETATIONS.items()}
NOISY = POOLS["noisy"]
#: The parts of claims that name two pools only.
TWO_POOLS = {part: POOLS[part] for part in ("noisy", "mean_001")}
#: EI and PI are alike within this share of the axis.
ALIKE = 0.05
#: The width published since, and the classical one, with the same gain.
TIGHTER = ("IGP-UCB, tighter", "IGP-UCB, gain of the pulls")
#: Dimensions of the functions of Fig. 3 (those of Figs. 1 and 2 have one), and the panels that are not under SE.
DIMENSION = {"(a) Rosenbrock": 2, "(b) Hartmann-3": 3}
MATERN = "(b) Matérn"
#: Chances of failure at which crossings of Theorem 1's bound are counted.
DELTAS = (0.05, 0.1, 0.5)
#: Parts of claim 2-O -> settings of the runs for Theorem 2.
BANDS = {"band": "proved: λ = 1 + 2/T", "tighter": "tighter: λ = 1 + 2/T", "own_setting": "Fig. 1: λ = R²"}


def of(panels: Mapping[Key, Any], names: Iterable[str]) -> dict[Key, Any]:
    """Return the panels of these figures or titles."""
    return {key: its for key, its in panels.items() if set(key) & set(names)}


def block_of(key: Key, a: Array, b: Array) -> int:
    """Return how many neighbours of a - b count as one: rows of readings are neighbours in time, functions are not."""
    return block_length(a - b) if key[0] == "4" else 1


def apart(key: Key, panel: Panel, rule: str, rival: str, seed: int) -> Estimate:
    """Return how much more regret a rule has than a rival in a panel; at least -1, as regret is at least 0."""
    a, b = panel[rule], panel[rival]
    return paired_share(a, b, seed, block_of(key, a, b)).changed(partial(max, -1.0))


def _resampled(statistic: Callable[..., Array], *samples: Array, seed: int, method: str = "BCa") -> Estimate:
    return bootstrap(statistic, *samples, rng=intervals(seed), method=method)


def smallest_ratio(pairs: Iterable[tuple[Array, Array]], seed: int) -> Estimate:
    """Return the smallest over pairs (a, b) of samples of the mean of a over that of b."""
    return weakest(_resampled(ratio, a, b, seed=seed) for a, b in pairs)


# One number of panels and five rules


def behind(panels: Panels, five: Sequence[str], seed: int, *, rule: str, rivals: Iterable[int] = range(5)) -> Estimate:
    """Return how much more regret a rule has than its closest rival; largest over panels.

    `rivals`: places in the five.
    """
    pairs = product(panels.items(), [five[i] for i in rivals if five[i] != rule])
    return largest(apart(key, its, rule, rival, seed) for (key, its), rival in pairs)


def improvement_behind(panels: Panels, five: Sequence[str], seed: int) -> Estimate:
    """Return how much more regret the worse of EI and PI has than the best of the other three; largest over panels."""
    return largest(behind(panels, five, seed, rule=rule, rivals=range(3)) for rule in five[3:])


def ei_behind_pi(panels: Panels, five: Sequence[str], seed: int) -> Estimate:
    """Return how far EI is behind PI, as a share of a linear axis up to the largest mean, where they are least alike.

    The axis of a panel ends at the largest mean of the five there.
    """

    def of_panel(key: Key, panel: Panel) -> Estimate:
        ei, pi, top = panel[five[3]], panel[five[4]], max((panel[rule] for rule in five), key=np.mean)
        return paired_share(ei - pi + top, top, seed, block_of(key, ei, pi))

    return farthest((of_panel(*its) for its in panels.items()), ALIKE)


def reordered(panels: Panels, five: Sequence[str], seed: int = 0) -> Estimate:
    """Return how many pairs of rules have means in opposite order in Figs. 1 and 2; EI and PI are no pair.

    A trial is resampled with all its rules and panels.
    """
    pairs = [(i, j) for i, j in combinations(range(len(five)), 2) if (i, j) != (3, 4)]
    both = [(panel, panels["2", title]) for (figure, title), panel in panels.items() if figure == "1"]
    columns = [its[rule] for pair in both for its in pair for rule in five]

    def count(*samples: Array) -> Array:
        means = np.array([its.mean(axis=-1) for its in samples])  # of five rules in Fig. 1, then in Fig. 2, ...
        means = means.reshape(len(both), 2, len(five), *means.shape[1:])
        steps = np.array([means[:, :, i] - means[:, :, j] for i, j in pairs])
        return (steps[:, :, 0] * steps[:, :, 1] < 0).sum(axis=(0, 1), dtype=float)

    return _resampled(count, *columns, seed=seed, method="percentile")


def over_best(panels: Panels, five: Sequence[str], seed: int, *, rule: str = "IGP-UCB") -> Estimate:
    """Return the mean of a rule over the smallest mean of the five, at least 1; largest over panels.

    With fewer than FEWEST trials the rival of smallest mean is taken as given.
    """

    def of_panel(panel: Panel) -> Estimate:
        others = [panel[rival] for rival in five if rival != rule]
        if len(panel[rule]) >= FEWEST:
            return _resampled(_over_best, panel[rule], *others, seed=seed)
        best = min(others, key=np.mean)
        return paired_share(panel[rule], best, seed).changed(lambda end: max(1.0, 1 + end))

    return largest(map(of_panel, panels.values()))


def _over_best(own: Array, *others: Array) -> Array:
    return own.mean(axis=-1) / np.min([its.mean(axis=-1) for its in (own, *others)], axis=0)


#: Claim -> the figures or titles that it is about, and what is measured: for the verdict, and in every interpretation.
MEASURES: dict[str, tuple[tuple[str, ...], Callable[..., Estimate]]] = {
    "2-A": (("1", "2"), partial(behind, rule="IGP-UCB", rivals=[0])),  # behind GP-UCB
    "2-C": (("1",), partial(behind, rule="IGP-UCB")),
    "2-E": (("1",), partial(behind, rule="GP-TS", rivals=[0, 3, 4])),  # behind all but IGP-UCB
    "2-F": (("1", "2", "3", "4"), ei_behind_pi),
    "2-G": (("1", "2"), reordered),
    "2-H": (("3",), improvement_behind),
    "2-I": (("3",), over_best),
    "2-J": (("temperature",), partial(behind, rule="IGP-UCB", rivals=[0])),
    "2-K": (("temperature",), partial(behind, rule="GP-TS")),
    "2-L": (("light",), partial(behind, rule="GP-TS")),
    "2-M": (("light",), partial(behind, rule="IGP-UCB", rivals=[3, 4])),  # behind EI and PI
    "2-Q": (("light",), partial(behind, rule="IGP-UCB", rivals=[0])),
}


def measured(claim_id: str, panels: Panels, seed: int, five: Sequence[str] = NOISY) -> Estimate:
    """Return the measure of a claim, by default with the noisy incumbent; KeyError where a rule did not play."""
    names, measure = MEASURES[claim_id]
    return measure(of(panels, names), five, seed)


def of_pools(claim_id: str, panels: Panels, seed: int) -> Judged:
    """Return the measure of a claim for every incumbent and margin of EI and PI."""
    return {part: measured(claim_id, panels, seed, five) for part, five in POOLS.items()}


def in_interpretations(
    claim_id: str, under: Interpreted, choices: Choices, seed: int
) -> list[tuple[dict[str, Any], Estimate]]:
    """Return the measure of a claim under every interpretation in which all its panels were played, the main one first.

    `choices` are those of the rules: incumbent and margin, then the four of `under`. An interpretation names only those
    of which several values were played.
    """
    found, its = [], of(under, MEASURES[claim_id][0])
    if claim_id in ("2-A", "2-J", "2-Q"):  # not about EI and PI
        choices = {**choices, "incumbent": choices["incumbent"][:1], "margin": choices["margin"][:1]}
    if claim_id == "2-F":  # about EI and PI, which are given no norm; the axis is that of the first
        choices = {**choices, "norm": choices["norm"][:1]}
    for case in cross(choices):
        incumbent, margin, *where = case.values()
        five = pool(incumbent, margin)
        panels = {key: played.get(tuple(where), {}) for key, played in its.items()}
        if all(set(five) <= set(panel) for panel in panels.values()):
            found.append((case, measured(claim_id, panels, seed, five)))
    varied = [name for name in choices if len({case[name] for case, _ in found}) > 1]
    return [({name: case[name] for name in varied}, estimate) for case, estimate in found]


# Functions of the RKHS and of the prior, test functions (Figs. 1 to 3)


def claim_2_A(panels: Panels, seed: int) -> Judged:
    """How much more regret IGP-UCB has than GP-UCB in Figs. 1 and 2; the least mean of GP-UCB over that of IGP-UCB."""
    pairs = [(panel["GP-UCB"], panel["IGP-UCB"]) for panel in of(panels, "12").values()]
    return {"difference": measured("2-A", panels, seed), "ratio": smallest_ratio(pairs, seed)}


def claim_2_B(panels: Panels, seed: int) -> Judged:
    """How much more regret the worst of the other four has than GP-UCB in Figs. 1 and 2."""
    its, found = of(panels, "12"), {}
    for part, five in TWO_POOLS.items():
        found[part] = largest(behind(its, five, seed, rule=rule, rivals=[0]) for rule in five[1:])
    return found


def claim_2_D(panels: Panels, seed: int) -> Judged:
    """How much more regret IGP-UCB has than EI (mean-based, margin 0), by means and medians; largest over panels."""
    pairs = [(panel["IGP-UCB"], panel["EI"]) for panel in panels.values()]
    medians = largest(_resampled(median_share, *pair, seed=seed, method="percentile") for pair in pairs)
    return {"mean": behind(panels, POOLS["mean_0"], seed, rule="IGP-UCB", rivals=[3]), "median": medians}


def median_share(a: Array, b: Array) -> Array:
    """Return the median of a less that of b, over the last axis, as a share of the latter."""
    return np.median(a, axis=-1) / np.median(b, axis=-1) - 1


def claim_2_F(panels: Panels, seed: int) -> Judged:
    """How much more regret EI has than PI where they are least alike, in Figs. 1 to 4 and in Figs. 1 and 2."""
    return of_pools("2-F", panels, seed) | {"synthetic": measured("2-F", of(panels, "12"), seed)}


def claim_2_I(panels: Panels, seed: int) -> Judged:
    """Mean regret of IGP-UCB and of GP-TS in Fig. 3 over the smallest of the five, at least 1."""
    its, found = of(panels, "3"), {}
    for (part, five), (short, rule) in product(POOLS.items(), (("igp", "IGP-UCB"), ("ts", "GP-TS"))):
        found[f"{short}_{part}"] = over_best(its, five, seed, rule=rule)
    return found


def over_range(source: Callable[[Trial], Problem], regret: Array, seed: int) -> Array:
    """Return the regret (n,) of trials 0 to n - 1 over the range of the function of each, (n,)."""
    return regret / [np.ptp(source(Trial(seed, number)).expected_reward) for number in range(len(regret))]


def claim_2_T(raw: Mapping[Key, Array], scaled: Mapping[Key, Array], seed: int) -> Judged:
    """Mean regret of IGP-UCB in Fig. 1 over that in Fig. 2; both {panel: (n,)}, `scaled` over each function's range."""

    def least(its: Mapping[Key, Array]) -> Estimate:
        return smallest_ratio([(its[key], its["2", key[1]]) for key in its if key[0] == "1"], seed)

    return {"scaled": least(scaled), "raw": least(raw)}


def claim_2_W(panels: Panels, seed: int) -> Judged:
    """How much more regret IGP-UCB has with the tighter width than with the classical one."""
    where, found = {"synthetic": ["1", "2"], "test_functions": ["3"], "light": ["light"]}, {}
    for part, names in where.items():
        found[part] = behind(of(panels, names), TIGHTER, seed, rule=TIGHTER[0], rivals=[1])
    return found


# Theorems


def crossings(log_excess: Mapping[str, Array]) -> dict[float, Judged]:
    """Return by delta and rule the share of runs that cross the bound of Theorem 1; `log_excess` {rule: (n,)}."""
    return {d: {rule: share(its > np.log(1 / d)) for rule, its in log_excess.items()} for d in DELTAS}


def claim_2_N(log_excess: Mapping[str, Array]) -> Judged:
    """The share of runs on noise that cross the bound of Theorem 1, divided by delta; largest over rules and delta."""
    over = [largest(its.values()).changed(delta.__rtruediv__) for delta, its in crossings(log_excess).items()]
    return {"crossings": largest(over)}


def coverage(trace: Trace) -> Estimate:
    """Return the share of runs in which the band holds for every arm in every round."""
    return share(np.all(trace.band_ratio <= 1, axis=1))


def multiplier(trace: Trace, delta: float) -> float:
    """Return the smallest multiplier of the width with which the band holds in a share 1 - delta of the runs."""
    return float(np.quantile(trace.band_ratio.max(axis=1), 1 - delta))


def claim_2_O(covered: Mapping[tuple[str, str], Trace], delta: float) -> Judged:
    """The share of runs whose band holds, smallest over functions, by setting; the multiplier that would do.

    `covered`: {(function, setting): trace}.
    """
    found = {part: weakest(map(coverage, of(covered, [setting]).values())) for part, setting in BANDS.items()}
    most = max(multiplier(trace, delta) for trace in of(covered, [BANDS["band"]]).values())
    return found | {"multiplier": exact(most)}


def claim_2_U(bounds: Mapping[str, tuple[Array, Array]]) -> Judged:
    """The share of runs below the bound of Theorem 3, and its median over that of R_T: {function: (bound, R_T)}."""
    loose = min(float(np.median(bound) / np.median(regret)) for bound, regret in bounds.values())
    return {"bound": weakest(below_bound(*its) for its in bounds.values()), "loose": exact(loose)}


def claim_2_V(delta: float) -> Judged:
    """How far the exponent of ln t in GP-UCB's width over IGP-UCB's is from 3/2: from 1e100 to 1e200, and in Fig. 1."""
    logs = 100 * np.log(10), 200 * np.log(10)
    far = [log_exponent(power, logs, norm=1, noise_scale=1, delta=delta) for power in (1, 2)]
    seen = log_exponent(2, (np.log(300), np.log(30000)), norm=3, noise_scale=0.13, delta=delta)
    return {"exponent": exact(max(abs(e - 1.5) for e in far)), "seen": exact(abs(seen - 1.5))}


def below_bound(bound: Array, regret: Array) -> Estimate:
    """Return the share of runs, (n,) each, whose regret is at most its bound (2-Y)."""
    return share(regret <= bound)


# Kernels and dimensions


def claim_2_R(pairs: Sequence[tuple[Panel, Panel]], seed: int) -> Judged:
    """How much more the mean regret of IGP-UCB and GP-TS grows than that of EI and PI: pairs (right kernel, wrong)."""
    return {part: inflation(pairs, OURS[1:], five[3:], seed) for part, five in TWO_POOLS.items()}


def inflation(pairs: Sequence[tuple[Panel, Panel]], rules: Sequence[str], rivals: Sequence[str], seed: int) -> Estimate:
    """Return how much more the rules' mean regret grows than the rivals' from the first to the second of each pair.

    Growth is the second panel's mean over the first's; the geometric means over pairs, and over rules and over rivals,
    are divided. Both panels of a pair are of the same trials.
    """
    columns = [panel[name] for pair in pairs for name in (*rules, *rivals) for panel in pair]
    weights = np.tile([1 / len(rules)] * len(rules) + [-1 / len(rivals)] * len(rivals), len(pairs)) / len(pairs)

    def statistic(*samples: Array) -> Array:
        growth = [np.log(ratio(wrong, right)) for right, wrong in zip(samples[::2], samples[1::2], strict=True)]
        return np.exp(weights @ np.array(growth))

    return _resampled(statistic, *columns, seed=seed)


def claim_2_S(panels: Panels, by_d: Mapping[int, Panel], seed: int) -> Judged:
    """The mean of GP-TS over that of IGP-UCB: least in Figs. 1 to 3 and over d, and the power of d it rises with.

    That power over the panels of Figs. 1 to 3 under the SE kernel, over all of them, and over dimensions of our own.
    """

    def ts_and_igp(its: Iterable[Panel]) -> list[tuple[Array, Array]]:
        return [(panel["GP-TS"], panel["IGP-UCB"]) for panel in its]

    shown = of(panels, "123")
    d = [DIMENSION.get(title, 1) for _, title in shown]
    se = [i for i, (_, title) in enumerate(shown) if title != MATERN]
    pairs, own = ts_and_igp(shown.values()), ts_and_igp(by_d.values())
    return {
        "figures": smallest_ratio(pairs, seed),
        "rises_se": power_of_d([d[i] for i in se], [pairs[i] for i in se], seed),
        "rises_all": power_of_d(d, pairs, seed),
        "gap": smallest_ratio(own, seed),
        "rises": power_of_d(list(by_d), own, seed),
    }


def power_of_d(d: Sequence[int], pairs: Sequence[tuple[Array, Array]], seed: int) -> Estimate:
    """Return the power of d with which the mean of a over that of b rises, by least squares over pairs (a, b)."""
    x = np.log(d) - np.mean(np.log(d))

    def power(*samples: Array) -> Array:
        return x @ np.array([np.log(ratio(a, b)) for a, b in zip(samples[::2], samples[1::2], strict=True)]) / (x @ x)

    return _resampled(power, *(sample for pair in pairs for sample in pair), seed=seed)
