"""What Janz, Burt and González (2020) say of their experiments, as predicates on the tables behind Table 1 and Fig. 2.

A run's regret is a share of what uniform play is expected to lose. Eq. 2 read literally makes the lengthscale sqrt 3
times the usual one; the paper's own Table 1 rules it out, by its column of IGP-UCB alone, since the claims are on
π-GP-UCB and on the difference. "Four common" test functions are not named: ours are a guess, four others a reading.
Times are seconds of one core in the runs of Table 1.
"""

import math
from functools import partial

import numpy as np

from kbrepro.claims import Checked, claim, theorem
from kbrepro.claims.tables import EXPONENT, SECONDS, TOTAL, Table
from kbrepro.claims.words import always, barely_better, best, better, competitive, much_better, near_linear, sometimes
from kbrepro.kernels import Matern
from kbrepro.papers.pi_gp_ucb.covers import One, counterexample
from kbrepro.papers.pi_gp_ucb.experiments import (
    cover_too_large_until,
    half_width,
    late_exponent,
    regret_exponents,
    uniform_regret,
)
from kbrepro.papers.pi_gp_ucb.partition import cover_exponent, initial_side, split_exponent
from kbrepro.papers.pi_gp_ucb.problems import SURFACES, Bumps
from kbrepro.problems import Trial

RIVAL, OURS = RULES = "IGP-UCB", "π-GP-UCB"
T, NU, DELTA = 10_000, 1.5, 0.1
HORIZONS = (333, 541, 880, 1431, 2327, 3783, 6151, T)
LENGTHSCALES = {"usual": 0.2, "eq. 2": 0.2 * math.sqrt(3)}
PRINTED = {1: (0.11, 0.09), 2: (0.71, 0.52), 3: (0.97, 0.77)}
REFUTED = {"eq. 2": "Table 1, IGP-UCB, d = 1, 2: chi-square 72, with the usual lengthscale 11"}
COVERS = "interpretations, d = 2, {'lengthscale': 'usual', 'noise scale': 1, 'alpha': 1}"


def uniform(kept, d, lengthscale):
    """What uniform play is expected to lose in T rounds of each run of Table 1, (N,)."""
    label, source = f"Table 1, d = {d}", Bumps(Matern(LENGTHSCALES[lengthscale], nu=NU), d, 30, 1.0, 1.0)
    return T * uniform_regret(source, len(kept.results(label)), kept.seed(label))


def shares(kept, d):
    """Regret of every run over that of uniform play, in each reading."""
    even = uniform(kept, d, "usual")
    columns = {rule: kept.column(f"Table 1, d = {d}", rule, TOTAL) / even for rule in RULES}
    for rule in RULES:  # linearised: the mean is the ratio of means
        ratio = (columns[rule] * even).mean() / even.mean()
        columns[f"{rule}, ratio of means"] = ratio + (columns[rule] - ratio) * even / even.mean()
    if d < 3:  # eq. 2 is shown in d = 1, 2
        literal = uniform(kept, d, "eq. 2")
        columns |= {f"{rule}, eq. 2": kept.column(f"Table 1, eq. 2, d = {d}", rule, TOTAL) / literal for rule in RULES}
    if d == 2:
        for rule, name in [(RIVAL, f"{RIVAL}, few runs"), ("down", f"{OURS}, down"), ("up", f"{OURS}, up")]:
            columns[name] = (lost := kept.column(COVERS, rule, TOTAL)) / even[: len(lost)]
    return {(name, TOTAL): column for name, column in columns.items()}


def since(kept, d):
    """Regret of every run over that of uniform play, as published and with two later proofs."""
    even = uniform(kept, d, "usual")
    played = {"": f"Table 1, d = {d}", ", tighter": f"tighter width, d = {d}", ", both": f"both, d = {d}"}
    return {
        (f"{rule}{end}", TOTAL): kept.column(label, rule, TOTAL) / even
        for end, label in played.items()
        for rule in RULES
    }


def regrets(d):
    """A row of Table 1: shares of uniform regret. The first cover is about T^q cells, a whole number a side."""
    readings = {
        "averaging": {"mean of ratios": {}, "ratio of means": {rule: f"{rule}, ratio of means" for rule in RULES}}
    }
    if d < 3:
        readings["lengthscale"] = {"usual": {}, "eq. 2": {rule: f"{rule}, eq. 2" for rule in RULES}}
    if d == 2:
        covers = {cover: {RIVAL: f"{RIVAL}, few runs", OURS: f"{OURS}, {cover}"} for cover in ("down", "up")}
        readings["first cover"] = {"rounded": {}} | covers
    return Table(f"Table 1, d = {d}", "", 12, "function", RULES, readings, REFUTED, partial(shares, d=d))


def surface(number):
    """A panel of Fig. 2; runs differ by noise and ties alone."""
    first, other = [*SURFACES][number], [*SURFACES][number + 4]
    readings = {
        "L": {"0.1": {}, "0.1 / sqrt 3": {"*": f"Fig. 2, least L, {first}"}},
        "lengthscale": {"usual": {}, "eq. 2": {"*": f"Fig. 2, eq. 2 read literally, {first}"}},
        "functions": {"four": {}, "four others": {"*": f"Fig. 2, usual, {other}"}},
    }
    return Table(f"Fig. 2, {first}", f"Fig. 2, usual, {first}", 12, "run", RULES, readings, REFUTED, apart=True)


def of_cells(kept, d):
    """What runs do to their cells: `late_share` and `moved` of `CellRun`."""
    runs = kept.results(f"cells, d = {d}, T = {T}")
    return {(OURS, name): np.array([getattr(run, name) for run in runs]) for name in ("late_share", "moved")}


row1, row2, row3 = (regrets(d) for d in (1, 2, 3))
time1, time2, time3 = (Table(f"Table 1, d = {d}, runtime", f"Table 1, d = {d}", 12) for d in (1, 2, 3))
since1, since2, since3 = (Table(f"Table 1, d = {d}, since", size=12, load=partial(since, d=d)) for d in (1, 2, 3))
cells1, cells2 = (Table(f"cells, d = {d}", size=12, load=partial(of_cells, d=d)) for d in (1, 2))
fig2a, fig2b, fig2c, fig2d = (surface(number) for number in range(4))


def faster(time, statistic=SECONDS):
    """How many times the seconds of a run of π-GP-UCB IGP-UCB takes."""
    return time(RIVAL, statistic) / time(OURS, statistic)


def scales_better(time1, time3):
    """By how many times more the seconds of IGP-UCB grow from d = 1 to 3."""
    return faster(time3) / faster(time1)


# Table 1: regret


@claim(
    "3-G",
    "Abstract; Table 1",
    effect=lambda row1, row2, row3: np.max([row[OURS] / row[RIVAL] for row in (row1, row2, row3)], axis=0),
    shows="share of uniform regret of π-GP-UCB over that of IGP-UCB, the largest of d = 1, 2, 3",
)
def performs_better(row1, row2, row3):
    """Empirical validation suggests better performance [...] compared with its predecessor"""
    return always(*(best(row, OURS) for row in (row1, row2, row3)))


@claim("3-AH", "Section 5")
def may_improve(row1, row2, row3):
    """but may also yield improved empirical performance."""
    return sometimes(*(best(row, OURS) for row in (row1, row2, row3)))


@claim("3-H", "Section 1; Table 1", effect=lambda row3: row3[RIVAL], shows="share of uniform regret of IGP-UCB, d = 3")
def barely_beats_uniform_play(row3):
    """in contrast, Improved GP-UCB barely outperforms uniformly sampling of arms"""
    return barely_better(row3[RIVAL], 1.0)


@claim(
    "3-AI",
    "Section 1; Table 1",
    effect=lambda row3: row3[OURS],
    shows="share of uniform regret of π-GP-UCB, d = 3; strong, in contrast: better than barely",
)
def strong_in_three_dimensions(row3):
    """π-GP-UCB shows strong empirical performance on 3-dimensional functions in the Matérn ν = 3/2 RKHS"""
    return best(row3, OURS) & better(row3[OURS], 1.0) & ~barely_better(row3[OURS], 1.0)


# Table 1 and Fig. 1: runtime


@claim(
    "3-I",
    "Section 1; Fig. 1, right",
    effect=lambda *times: np.max([time(OURS, EXPONENT) for time in times], axis=0),
    shows="exponent of the cumulated seconds of π-GP-UCB, t >= T / 10, the largest of d = 1, 2, 3",
)
def near_linear_runtime(time1, time2, time3):
    """our experiments show that despite using Gaussian process regression to construct confidence intervals, π-GP-UCB
    achieves an empirically near-linear runtime."""
    return always(*(near_linear(time(OURS, EXPONENT)) for time in (time1, time2, time3)))


@claim(
    "3-J",
    "Table 1",
    effect=lambda time3: faster(time3),
    shows="seconds of a run of IGP-UCB over those of π-GP-UCB, d = 3; printed: 62",
)
def more_scalable_in_three_dimensions(time3):
    """3 0.97 30 hours 0.77 29 min [...] Moreover, we see that π-GP-UCB is significantly more scalable."""
    return much_better(time3(OURS, SECONDS), time3(RIVAL, SECONDS), printed=30 * 60 / 29)


@claim(
    "3-K",
    "Table 1",
    effect=lambda time1: faster(time1),
    shows="seconds of a run of IGP-UCB over those of π-GP-UCB, d = 1; printed: 6.8",
)
def faster_in_one_dimension(time1):
    """IGP-UCB π-GP-UCB regret runtime regret runtime 1 0.11 82 min 0.09 12 min"""
    return better(time1(OURS, SECONDS), time1(RIVAL, SECONDS))


@claim(
    "3-R",
    "Table 1",
    effect=lambda time2: faster(time2),
    shows="seconds of a run of IGP-UCB over those of π-GP-UCB, d = 2; printed: 73",
)
def more_scalable_in_two_dimensions(time2):
    """2 0.71 118 min 0.52 97 s [...] Moreover, we see that π-GP-UCB is significantly more scalable."""
    return much_better(time2(OURS, SECONDS), time2(RIVAL, SECONDS), printed=118 * 60 / 97)


@claim(
    "3-AJ",
    "Abstract",
    effect=scales_better,
    shows="growth of the seconds of IGP-UCB from d = 1 to 3 over that of π-GP-UCB; printed: 9.1",
)
def drastically_more_scalable(time1, time3):
    """drastically improved computational scalability compared with its predecessor, Improved GP-UCB."""
    return much_better(1.0, scales_better(time1, time3), word="drastically")


@claim(
    "3-AK",
    "Section 3, Practical considerations",
    effect=scales_better,
    shows="growth of the seconds of IGP-UCB from d = 1 to 3 over that of π-GP-UCB; printed: 9.1",
)
def scales_much_better(time1, time3):
    """Empirically, this allows π-GP-UCB to scale much more favourably than GP-UCB."""
    return much_better(1.0, scales_better(time1, time3))


@claim(
    "3-AL",
    "Section 5; Table 1",
    effect=lambda time1, time2: time1(OURS, SECONDS) / time2(OURS, SECONDS),
    shows="seconds of a run of π-GP-UCB in d = 1 over those in d = 2; printed: 7.4",
)
def slow_in_one_dimension(time1, time2):
    """We note that the runtime of π-GP-UCB is high in the case d=1."""
    return better(time2(OURS, SECONDS), time1(OURS, SECONDS))


@claim(
    "3-S",
    "Section 5",
    effect=lambda cells1: cells1(OURS, "late_share"),
    shows="share of the last tenth of the pulls in one cell, d = 1; an even share of the first cells is 0.045",
)
def late_pulls_share_a_cell(cells1):
    """This is because in one dimension, π-GP-UCB converges rapidly, losing its computational advantages thereafter."""
    # Section 3: near convergence points land "therefore likely within the same cover element"
    return better(1 / initial_side(T, 1, NU), cells1(OURS, "late_share"))


# Fig. 2: test functions


@claim(
    "3-O",
    "Section 5, Fig. 2",
    effect=lambda *figures: np.max([fig[OURS] / fig[RIVAL] for fig in figures], axis=0),
    shows="mean R_T of π-GP-UCB over that of IGP-UCB, the largest of four functions",
)
def competitive_on_test_functions(fig2a, fig2b, fig2c, fig2d):
    """Our algorithm, π-GP-UCB, performs competitively across this set of problems."""
    return always(*(competitive(fig, OURS) for fig in (fig2a, fig2b, fig2c, fig2d)))


# A remark and questions of our own


@claim(
    "3-V",
    "Section 3, Practical considerations",
    kind="remark",
    effect=lambda cells1, cells2: np.maximum(cells1(OURS, "moved"), cells2(OURS, "moved")),
    shows="share of rounds in which the best arm of some unchanged cell moves, the larger of d = 1, 2",
)
def unchanged_cells_keep_their_best_arm(cells1, cells2):
    """under π-GP-UCB, the maximisation procedure need only be carried out over the cover elements containing the most
    recent observation and any newly created cover elements."""
    return always(*(cells(OURS, "moved") <= 0 for cells in (cells1, cells2)))


def off(printed, values, axis):
    """How far a printed mean of 12 runs lies from that of `values`, in half-widths of its 95 % prediction interval."""
    return (printed - values.mean(axis=axis)) / half_width(values, axis)


def inside(*rows):
    """Whether each of the six printed shares lies inside the prediction interval, (6, experiments)."""
    means = [
        (row, rule, printed)
        for row, d in zip(rows, PRINTED, strict=True)
        for rule, printed in zip(RULES, PRINTED[d], strict=True)
    ]
    return np.array([np.abs(row(rule, of=partial(off, printed))) <= 1 for row, rule, printed in means])


@claim(
    "3-A",
    "Table 1",
    kind="own question",
    effect=lambda row1, row2, row3: inside(row1, row2, row3).sum(axis=0),
    shows="printed shares of uniform regret inside the prediction interval of a mean of 12 runs, of six",
)
def printed_levels_come_out(row1, row2, row3):
    """0.11 82 min 0.09 12 min 2 0.71 118 min 0.52 97 s 3 0.97 30 hours 0.77 29 min"""
    return always(*inside(row1, row2, row3))


@claim(
    "3-W",
    "since the paper: Flynn and Reeb 2024; Whitehouse, Wu and Ramdas 2023",
    kind="own question",
    effect=lambda *rows: np.max([row[f"{RIVAL}, both"] / row[f"{OURS}, tighter"] for row in rows], axis=0),
    shows="regret of IGP-UCB with both changes over that of π-GP-UCB with the tighter width, largest of d = 1, 2, 3",
)
def changed_igp_ucb_beats_changed_pi_gp_ucb(since1, since2, since3):
    return always(*(better(row[f"{RIVAL}, both"], row[f"{OURS}, tighter"]) for row in (since1, since2, since3)))


@claim(
    "3-X",
    "since the paper: Flynn and Reeb 2024; Whitehouse, Wu and Ramdas 2023",
    kind="own question",
    effect=lambda *rows: np.max([row[f"{RIVAL}, both"] / row[OURS] for row in rows], axis=0),
    shows="regret of IGP-UCB with both changes over that of π-GP-UCB as published, the largest of d = 1, 2, 3",
)
def changed_igp_ucb_beats_pi_gp_ucb(since1, since2, since3):
    return always(*(better(row[f"{RIVAL}, both"], row[OURS]) for row in (since1, since2, since3)))


# Theorems and lemmas


@theorem(
    "3-T",
    "Lemma 1",
    "its constant is free; room: largest gain of a cell over log T log log T, d = 1, 2, 3, T = 333 to 10,000",
)
def gain_of_a_cell(kept):
    r"""Then, for some C > 0, $\gamma_{\tau'(A)}^A \leq C \log T \log \log T$."""
    runs = [(run, t) for _, t, some in covers(kept) for run in some]
    return Checked(0, 0, room=max(run.gain / (math.log(t) * math.log(math.log(t))) for run, t in runs))


def covers(kept):
    """The runs that looked at their cells, by d and horizon."""
    return [(d, t, kept.results(f"cells, d = {d}, T = {t}")) for d in (1, 2, 3) for t in HORIZONS]


@theorem(
    "3-M",
    "Lemma 2",
    "its constant is free; room: largest number of cells ever created over T^q, d = 1, 2, 3, T = 333 to 10,000",
)
def cells_created(kept):
    """Let A_t be the covering set at time t. Suppose [...]. Then, for T sufficiently large, [...] where [...] > 0
    depends on d and ν only."""
    return Checked(
        0, 0, room=max(run.created / t ** cover_exponent(d, NU) for d, t, runs in covers(kept) for run in runs)
    )


@theorem(
    "3-U",
    "Theorem 3, proof",
    "R_T is at most the sum of twice width times sd, d = 1, 2, T = 10,000; room: the largest R_T over that sum",
)
def regret_below_widths(kept):
    r"""we bound r_t as $r_t = f(x^*) - f(x_t) \le 2\widehat{\beta}_t^{A_t(x_t)} \sigma_{t-1}^{A_t(x_t)}(x_t)$ with
    probability 1-δ for all t ≤ T."""
    ratios = np.array([run.regret / run.bound for run in bands(kept)])
    return Checked(int((ratios > 1).sum()), len(ratios), DELTA, float(ratios.max()))


def bands(kept):
    """The runs of d = 1, 2 that looked at the band, with the printed count of cells."""
    return [run for d in (1, 2) for run in kept.results(f"Lemma 5, d = {d}, printed")]


def regret_growth(kept, nu, d):
    """The exponent of T in the mean R_T of π-GP-UCB, by least squares through five horizons."""
    horizons = (316, 1000, 3162, 10_000, 31_623)
    means = [np.mean([run[OURS] for run in kept.results(f"growth, ν = {nu}, d = {d}, T = {t}")]) for t in horizons]
    return float(np.polyfit(np.log(horizons), np.log(means), 1)[0])


@theorem(
    "3-AA",
    "Theorem 3, eq. 1",
    "asymptotic; room: largest exponent of T in the mean R_T, T = 316 to 31,623, over that of eq. 1, ν = 3/2, 5/2, d = "
    "1, 2",
)
def regret_rate(kept):
    """Then for any fixed [...] with probability at least [...] the regret incurred by π -GP-UCB is bounded by"""
    cases = [(nu, d) for nu in (1.5, 2.5) for d in (1, 2)]
    return Checked(0, 0, room=max(regret_growth(kept, nu, d) / regret_exponents(d, nu)[OURS] for nu, d in cases))


@theorem(
    "3-N",
    "Theorem 4",
    "asymptotic; room: largest exponent of T in the gain of greedy pulls, T = 1,000 to 10,000, over q, d = 1, 2",
)
def information_gain(kept):
    r"""Information gain associated with the Matérn kernel with parameter ν > 1 after T steps can be bounded as
    $\gamma_T^{\mathcal{X}} = \widetilde{\mathcal{O}}(T^{\frac{d(d+1)}{d(d+2)+2\nu}})$."""
    gains = enumerate(kept.results("gain, usual"), start=1)
    return Checked(0, 0, room=max(late_exponent(gain) / cover_exponent(d, NU) for d, gain in gains))


@theorem(
    "3-P",
    "Lemma 5",
    "the band holds in all cells, arms and rounds, d = 1, 2, T = 10,000, with the printed count of cells, which is not "
    "proved (Lemma 10); room: the largest error over the band",
)
def band_in_all_cells(kept):
    r"""Given δ ∈ (0,1), for all t ≤ T, for all [...], for all x ∈ A, we have $|\mu_{t-1}^A(x) - f(x)| \le
    \widehat{\beta}_t^A \sigma_{t-1}^A(x)$, with probability 1-δ."""
    runs = bands(kept)
    return Checked(sum(not run.band for run in runs), len(runs), DELTA, max(run.ratio for run in runs))


@theorem(
    "3-Q",
    "Lemma 6",
    "the first cover alone, about T^q cells, T = 10,000, d = 1, 2, 3; room: the largest over 4 (t + 1)^(b d), t = 1",
)
def count_of_cells(kept):
    r"""which bounds the number of all cover elements that could ever be created within t steps of running the algorithm
    by $\tilde{N}_t = 4(t+1)^{bd}$. Lemma 6. There exists a set B_t such that $|B_t| \leq \widetilde{N}_t$ and A_t ⊂
    B_t with probability one."""
    first = {d: initial_side(T, d, NU) ** d / (4 * 2 ** (split_exponent(d, NU) * d)) for d in (1, 2, 3)}
    return Checked(sum(cover_too_large_until(T, d, NU) > 0 for d in first), len(first), room=max(first.values()))


@theorem(
    "3-AM", "Lemma 7", "60 random points in a set A, d = 1, 2, 3, α from 1 to 3; room: the largest left over right side"
)
def sum_of_variances(kept):
    r"""For any [...] and a Gaussian process estimator with $\alpha > 1$, $\sum_{t=1}^{\tau} 1\{x_t \in A\}
    (\sigma_{t-1}^A(x_t))^2 \leq 4\alpha \gamma_{\tau}^A$."""
    rng, ratios = np.random.default_rng(7), []
    for _ in range(100):
        for d in (1, 2, 3):
            alpha, points = rng.uniform(1, 3), rng.uniform(size=(60, d)) * rng.uniform(0.1, 1)
            pivots = np.linalg.cholesky(Matern(0.2, nu=NU)(points, points) + alpha * np.eye(60)).diagonal() ** 2
            ratios.append((pivots - alpha).sum() / (2 * alpha * np.log(pivots / alpha).sum()))  # α + the variance
    return Checked(int((np.array(ratios) > 1).sum()), len(ratios), room=float(max(ratios)))


@theorem("3-AN", "Theorem 8", "cited from Srinivas et al. (2010); a term without a constant: a run cannot check it")
def gain_by_spectrum(kept):
    r"""for any $s_0 \in \mathbb{N} \cap [1, n_N]$."""
    return Checked(0, 0)


@theorem("3-AO", "Theorem 9", "cited from Seeger et al. (2008); asymptotic: a run cannot check it")
def spectrum_of_the_kernel(kept):
    """asymptotically as [...] where $C_d > 0$."""
    return Checked(0, 0)


@theorem(
    "3-AD",
    "Lemma 10",
    "as printed, without a square; constant kernel, the pulls with positive noise among 2,000; room: the largest left "
    "over right side",
)
def noise_of_a_set(kept):
    """Then for any given δ ∈ (0,1) and η > 0, for all t ≥ 0 and all A ∈ [...] we have"""
    seed = kept.seed("Lemma 10")
    left, right = np.array([counterexample(One(), [2000], DELTA, Trial(seed, n))[0] for n in range(5)]).T
    ratios = np.sqrt(left) / right
    return Checked(int((ratios > 1).sum()), len(ratios), DELTA, float(ratios.max()))


@theorem(
    "3-AP",
    "Lemma 10, proof",
    "with the square that the proof needs; Matérn kernel, the pulls with positive noise among 1,000; room: the largest "
    "left over right side",
)
def squared_noise_of_a_set(kept):
    """Finally, by comparing with the proof of Theorem 1 in Chowdhury and Gopalan (2017)"""
    left, right = np.array(kept.results("Lemma 10"))[:, -1].T
    return Checked(int((left > right).sum()), len(left), DELTA, float((left / right).max()))
