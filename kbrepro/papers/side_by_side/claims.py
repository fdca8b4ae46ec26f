"""Our own questions to all rules side by side, as predicates on the tables of the bench.

Problems are a list, no sample: a number counts problems, and what varies is the trials of each. Regret below a
hundredth of uniform play's counts as that hundredth, since a rule that finds the best arm at once would make every
ratio huge.
"""

import math
from dataclasses import replace
from functools import partial

import numpy as np

from kbrepro.claims import own_question
from kbrepro.claims.tables import TOTAL, Table
from kbrepro.claims.words import always, better
from kbrepro.papers.pi_gp_ucb.experiments import regret_exponents
from kbrepro.papers.side_by_side.bench import BOUNDED, DRAWN, NEITHER, WRONG, simple, synthetic
from kbrepro.papers.side_by_side.experiments import BEST_PROVED, FLOOR, NEAR, UNIFORM
from kbrepro.papers.side_by_side.field import TUNED, WITH_A_SCALE, field, tuned

# All problems: 40 trials each

SETTINGS = synthetic(1000, 1000, {"Table 1": 1, "BKB": 1}, 10_000)
#: On sensors the rules are defined that need neither kernel nor grid, and no assumption holds.
SETTINGS |= {name: replace(SETTINGS["SE draws"], holds=NEITHER) for name in ("temperature", "light", "traffic")}
FIELD = field(0.1)
ENTRIES = {name: its.defined(FIELD | tuned(FIELD, dict.fromkeys(WITH_A_SCALE, 1.0))) for name, its in SETTINGS.items()}
bench = tuple(Table(name, name, pool=tuple(rules), unit="trial") for name, rules in ENTRIES.items())


def over_best(problem):
    """The mean R_T of every rule over that of the best of all, at least 1, (experiments,) by rule."""
    means = np.maximum([problem[rule] for rule in problem.pool], FLOOR * problem[UNIFORM])
    return dict(zip(problem.pool, means / means.min(axis=0), strict=True))


def many(held):
    """In how many of the cases a statement holds, in each experiment."""
    return np.sum(held, axis=0)


def within_twice(problems, *rules):
    """In how many of its problems each rule has at most twice the least regret, and how many those are."""
    ratios = [over_best(problem) for problem in problems]
    held = [[its[rule] <= 2 for its in ratios if rule in its] for rule in rules]
    return [(many(cases), len(cases)) for cases in held]


def least(problem, chosen):
    """The least `over_best` of the rules that `chosen(rule)` takes."""
    return np.min([ratio for rule, ratio in over_best(problem).items() if chosen(rule)], axis=0)


def near_optimal(rule):
    return rule in FIELD and FIELD[rule].proof == "near-optimal"


def prices(problems, kind):
    """The least regret of a rule whose proof holds over the least of all, on each problem of a kind."""
    settings = zip(problems, SETTINGS.items(), strict=True)
    return [
        least(problem, lambda rule, name=name, its=its: its.met(ENTRIES[name][rule]))
        for problem, (name, its) in settings
        if its.holds == kind
    ]


@own_question(
    "6-E",
    "All problems",
    effect=lambda *problems: np.min([number for number, _ in within_twice(problems, "EI", "PIMS")], axis=0),
    shows="on so many of sixteen problems, the fewer of EI and PIMS",
)
def simple_rules_do_well(*bench):
    """EI with the posterior mean, and PIMS, have at most twice the regret of the best of all rules on at least half of
    the problems."""
    return always(*(number >= n / 2 for number, n in within_twice(bench, "EI", "PIMS")))


@own_question(
    "6-F",
    "All problems",
    effect=lambda *problems: within_twice(problems, "GP-UCB/5")[0][0],
    shows="on so many of sixteen problems, GP-UCB/5",
)
def so_have_widths_scaled_down(*bench):
    """So has an exact Gaussian process with a width scaled down, whichever band it started from."""
    scaled = within_twice(bench, "GP-UCB/5", "GP-UCB, tuned", "IGP-UCB, both, tuned")
    return always(*(number >= n / 2 for number, n in scaled))


@own_question(
    "6-G",
    "All problems",
    effect=lambda *problems: many([least(problem, near_optimal) > 5 for problem in problems]),
    shows="on so many of sixteen problems",
)
def near_optimal_rules_cost_much(*bench):
    """With printed constants the best of the near-optimal rules has more than five times the regret of the best of all
    on more than half of the problems."""
    return many([least(problem, near_optimal) > 5 for problem in bench]) > len(bench) / 2


@own_question(
    "6-H",
    "All problems",
    effect=lambda *problems: many([price > 2 for price in prices(problems, BOUNDED)]),
    shows="more than twice on so many of five problems of known norm",
)
def guarantees_cost(*bench):
    """A guarantee for functions of known norm costs more than twice the regret on more than half of the problems; one
    for draws from the prior costs less than a fifth more on both."""
    norm, drawn = prices(bench, BOUNDED), prices(bench, DRAWN)
    return (many([price > 2 for price in norm]) > len(norm) / 2) & always(*(price < 1.2 for price in drawn))


def savings(problems):
    """R_T tuned over R_T as printed, for each problem and rule with one scale."""
    ratios = [over_best(problem) for problem in problems]
    return [its[rule + TUNED] / its[rule] for its in ratios for rule in WITH_A_SCALE if rule + TUNED in its]


@own_question(
    "6-I",
    "All problems",
    effect=lambda *problems: np.mean([ratio < 0.5 for ratio in savings(problems)], axis=0),
    shows="share of cases (problem and rule)",
)
def one_scale_saves_half(*bench):
    """One scale for a rule's width, chosen on other problems, saves more than half of its regret in more than half of
    the cases."""
    held = [ratio < 0.5 for ratio in savings(bench)]
    return many(held) > len(held) / 2


# Growth: 20 functions each, R_T at five horizons

HORIZONS = (316, 1000, 3162, 10_000, 31_623)


def at_horizons(kept, start):
    """R_T by rule and horizon, of runs that know their horizon."""
    labels = {T: f"{start}, T = {T}" for T in HORIZONS}
    return {
        (rule, T): kept.column(label, rule, TOTAL) for T, label in labels.items() for rule in kept.results(label)[0]
    }


def growing(name, start):
    return Table(name, unit="function", load=partial(at_horizons, start=start))


CASES = tuple((nu, d) for nu in (1.5, 2.5) for d in (1, 2))
growth = tuple(growing(f"ν = {nu}, d = {d}", f"growth, ν = {nu}, d = {d}") for nu, d in CASES)


def exponent(fig, rule):
    """The slope of log mean R_T on log T, by least squares."""
    x = np.log(HORIZONS) - np.mean(np.log(HORIZONS))
    return x @ np.log([fig(rule, T) for T in HORIZONS]) / (x @ x)


def lead(fig):
    """R_T of the best near-optimal rule over that of IGP-UCB with both changes at the last horizon."""
    last = HORIZONS[-1]
    return np.min([fig(rule, last) for rule in NEAR], axis=0) / fig(BEST_PROVED, last)


def excess(fig, case):
    """The exponent of the best near-optimal rule at the last horizon, less the proved one."""
    best = np.argmin([fig(rule, HORIZONS[-1]) for rule in NEAR], axis=0)
    slopes = np.array([exponent(fig, rule) for rule in NEAR])
    return slopes[best, np.arange(len(best))] - regret_exponents(case[1], case[0])["lower bound"]


def pays_from(fig, case):
    """log10 of the horizon from which the better exponent pays if both grow as proved from the last one."""
    exponents = regret_exponents(case[1], case[0])
    gain = exponents["IGP-UCB, lambda grows"] - exponents["lower bound"]
    return math.log10(HORIZONS[-1]) + np.log10(np.maximum(lead(fig), 1.0)) / gain


@own_question(
    "6-B",
    "Growth",
    effect=lambda *panels: np.min([lead(fig) for fig in panels], axis=0),
    shows="times the regret, the smallest of four cases",
)
def near_optimal_rules_are_behind(*growth):
    """At T = 31,623 the best of the near-optimal rules, with printed constants, has more regret than IGP-UCB with both
    later changes, whose exponent is worse."""
    return always(*(better(1.0, lead(fig)) for fig in growth))


@own_question(
    "6-C",
    "Growth",
    effect=lambda *panels: many([excess(fig, case) > 0 for fig, case in zip(panels, CASES, strict=True)]),
    shows="in so many of four cases",
)
def still_faster_than_proved(*growth):
    """Up to T = 31,623 the regret of the best near-optimal rule still grows faster than its proved exponent."""
    return always(*(excess(fig, case) > 0 for fig, case in zip(growth, CASES, strict=True)))


@own_question(
    "6-D",
    "Growth",
    effect=lambda *panels: np.min([pays_from(fig, case) for fig, case in zip(panels, CASES, strict=True)], axis=0),
    shows="log10 of the horizon, the smallest of four cases",
)
def pays_after_a_million_rounds(*growth):
    """If both grow as proved from there, the better exponent pays only after a million rounds."""
    return always(*(pays_from(fig, case) > 6 for fig, case in zip(growth, CASES, strict=True)))


easy = tuple(growing(name, f"simple, {name}") for name in simple())


def slower_exponent(fig):
    """The smaller exponent of SupKernelUCB with the constants of its proof and tuned."""
    return np.minimum(exponent(fig, "SupKernelUCB"), exponent(fig, "SupKernelUCB, tuned"))


@own_question(
    "6-J",
    "Simple problems; Janz et al. (2020), Section 6",
    effect=lambda *panels: np.max([slower_exponent(fig) for fig in panels], axis=0),
    shows="exponent of T, the smaller of both, on the problem where it is largest (nearly linear: above 0.9)",
)
def sup_kernel_ucb_is_nearly_linear(*easy):
    """On some simple problem SupKernelUCB has nearly linear regret, with the constants of its proof and tuned, and
    IGP-UCB has not."""
    return np.any([(slower_exponent(fig) > 0.9) & (exponent(fig, "IGP-UCB") < 0.9) for fig in easy], axis=0)


# Wrong assumptions: 40 functions of two problems, T = 500

PLAYERS = ("GP-UCB", "GP-UCB/5", "IGP-UCB, tighter", "BPE, tighter", "GP-TS", "EI", "MPI", "PIMS")
ASSUMED = ("lengthscale double", "lengthscale half", "noise a third", "noise three times")


def under_wrong(kept, problem):
    """R_T by rule and assumption: the same functions and noise under each."""
    labels = {case: f"wrong, {problem}, {case}" for case in WRONG}
    return {(rule, case): kept.column(label, rule, TOTAL) for case, label in labels.items() for rule in PLAYERS}


wrong = tuple(
    Table(name, unit="function", load=partial(under_wrong, problem=name)) for name in ("SE draws", "SE, norm given")
)


def factor(panels, case):
    """By which factor a wrong assumption multiplies R_T: geometric mean over rules and two problems."""
    logs = [np.log(fig(rule, case) / fig(rule, "as it is")) for fig in panels for rule in PLAYERS]
    return np.exp(np.mean(logs, axis=0))


@own_question(
    "6-K",
    "Wrong assumptions",
    effect=lambda *panels: np.min([factor(panels, case) for case in ASSUMED], axis=0),
    shows="times the regret, the least costly of four (noise a third)",
)
def wrong_assumptions_cost(*wrong):
    """Assuming a lengthscale twice too long, or a noise a third of what it is, costs regret; assuming one half as
    long, or three times the noise, costs regret, too."""
    return always(*(better(1.0, factor(wrong, case)) for case in ASSUMED))
