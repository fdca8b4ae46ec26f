"""What the notebook on GPN-UCB plays, as data."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache, partial

from kbrepro.bandits.kernels import Matern, grid
from kbrepro.bandits.problems import Trial
from kbrepro.papers import Make, Plan, Rules
from kbrepro.papers.gpn_ucb import measures
from kbrepro.papers.gpn_ucb.cascade_ei import ExactCascadeEI, SampledCascadeEI
from kbrepro.papers.gpn_ucb.measures import Source
from kbrepro.papers.gpn_ucb.needle import Needles
from kbrepro.papers.gpn_ucb.policies import (
    GPNUCB,
    CascadeUCB,
    OptimisticImprovement,
    black_box_ei,
    black_box_ucb,
)
from kbrepro.papers.gpn_ucb.problems import (
    FINE,
    SMALL,
    DrawnChain,
    RandomNetwork,
    Repeated,
    exact_chain,
)
from kbrepro.papers.gpn_ucb.sets import FeedForward
from kbrepro.trials.simulation import Experiment, Planned

EPSILON = 0.15
#: Two layers of smoothness 1.5, and pulls, behind the rate of NonAda.
ROUGH_LAYERS = RandomNetwork(FeedForward(Matern(1.0, nu=1.5)), grid(100, 1, -2, 2), (1, 1))
PULLS = [4, 6, 9, 13, 18, 25, 36, 50]
RULES: Rules = {
    "GPN-UCB": GPNUCB,
    "cUCB": CascadeUCB,
    "OI": OptimisticImprovement,
    "GP-UCB": black_box_ucb,
    "EI": black_box_ei,
}
VERSIONS: Rules = {
    "as in L.2": GPNUCB,
    "with the point itself": partial(GPNUCB, itself=True),
    "no envelope": partial(GPNUCB, envelope=False),
    "400 points": partial(GPNUCB, n_grid=400),
    "over all of D": partial(GPNUCB, radius=10.0),
}
FIRST_LAYER: Rules = {"plain": GPNUCB, "enveloped": partial(GPNUCB, first=True)}


@cache
def chosen(
    chains: Callable[[int], Source], side: int, wanted: int, obvious: bool, seed: int
) -> tuple[int, ...]:
    """Return the numbers of the first of `chains(side)` with an obvious maximiser, or several."""
    numbers = measures.find_chains(chains(side), wanted, obvious, Trial(seed, 0))
    return tuple(numbers.tolist())


def sides(horizon: int) -> list[int]:
    """Return the roots of the numbers of pulls of NonAda."""
    return [side for side in range(2, 15) if side**2 <= horizon]


def experiments(
    seed: int,
    side: int,
    horizon: int,
    samples: int,
    chains: int,
    trials_per_chain: int,
    sampled_chains: int,
    obvious_chains: int,
    figure_trials: int,
    norm_2_chains: int,
    explorations: list[float],
    networks: int,
    network_horizon: int,
    needle_side: int,
    cross_chains: int,
) -> Plan:
    """Return what is played, by label, from the notebook's parameters."""
    plan = {}
    draws = DrawnChain(side)
    norm_2 = exact_chain(side)
    sampled: Rules = {"cEI": partial(SampledCascadeEI, samples=samples)}
    exact: Rules = {"cEI, exact": ExactCascadeEI}
    peaks = chosen(DrawnChain, side, obvious_chains, True, seed)
    clear = Repeated(draws, 1, peaks)
    (first,) = chosen(DrawnChain, side, 1, False, seed)
    shown = {"several maximisers": first, "an obvious maximiser": peaks[0]}

    def play(label: str, source: Source, rules: Mapping[object, Make], n: int) -> None:
        plan[label] = Planned(Experiment(source, rules, horizon), n, seed)

    def nonada(label: str, source: Source, n: int) -> None:
        job = partial(measures.nonadaptive_regrets, source, sides(horizon))
        plan[f"NonAda, {label}"] = Planned(job, n, seed)

    plan["chains, draws"] = Planned(partial(measures.chain_facts, draws), chains, seed)
    plan["chains, norm 2"] = Planned(partial(measures.chain_facts, norm_2), norm_2_chains, seed)
    search = partial(measures.find_chains, draws)
    plan["obvious ones, found"] = Planned(partial(search, obvious_chains, True), 1, seed)
    plan["the first of several, found"] = Planned(partial(search, 1, False), 1, seed)

    times = trials_per_chain
    play("draws", Repeated(draws, times), RULES, chains * times)
    play("draws, cEI", draws, sampled | exact, sampled_chains)
    unenveloped = {"no envelope": VERSIONS["no envelope"]}
    play("norm 2", norm_2, RULES | unenveloped, norm_2_chains)
    for kind, number in shown.items():
        again = Repeated(draws, figure_trials, (number,))
        play(f"figures, {kind}", again, RULES | sampled, figure_trials)
        nonada(kind, Repeated(draws, 2, (number,)), min(2, figure_trials))
    nonada("draws", draws, chains)
    play("obvious", clear, RULES | sampled, len(peaks))
    nonada("obvious", clear, len(peaks))

    n = min(cross_chains, chains, sampled_chains, norm_2_chains, len(peaks))
    for B in (2, 4):
        source = replace(draws, norm_bound=float(B))
        play(f"interpretations, draws, B {B}", source, FIRST_LAYER, n)
        play(f"interpretations, obvious, B {B}", Repeated(source, 1, peaks[:n]), FIRST_LAYER, n)
    play("versions of GPN-UCB", draws, VERSIONS, sampled_chains)

    sweep = {b: partial(OptimisticImprovement, b=b) for b in explorations}
    play("OI, draws", draws, sweep, chains)
    plan["relative widths"] = Planned(partial(measures.relative_widths, draws, 20), chains, seed)
    play("cUCB, draws", draws, {"cUCB": CascadeUCB}, chains)
    play("L = 1", replace(draws, lipschitz=1.0), {"cUCB": CascadeUCB}, chains)
    for kind, number in shown.items():
        again = Repeated(draws, figure_trials, (number,))
        play(f"Fig. 10, {kind}", again, sweep, figure_trials)

    def on_networks(label: str, what: Experiment | Callable[[Trial], object]) -> None:
        plan[label] = Planned(what, networks, seed, block=5)

    for structure, (network, _) in SMALL.items():
        job = partial(measures.composed_errors, network, [2, 3, 4, 5, 6, 7])
        on_networks(f"Appendix G, {structure}", job)
    on_networks("rate of NonAda", partial(measures.design_errors, ROUGH_LAYERS, PULLS))
    network, n_grid = FINE
    for mode, size in (("outward", n_grid), ("paper", 100)):
        job = partial(measures.bound_ratios, network, size, network_horizon, mode=mode)
        on_networks(f"chain, {mode}", job)
    for structure in ("multi-output", "feed-forward"):
        network, n_grid = SMALL[structure]
        rule = {"GPN-UCB": partial(GPNUCB, n_grid=n_grid, half_width=1.5)}
        on_networks(f"regret, {structure}", Experiment(network, rule, 49))
        side_of_design = 7 if network.points.shape[1] == 2 else 49
        job = partial(measures.nonadaptive_regrets, network, [side_of_design])
        on_networks(f"NonAda, {structure}", job)

    cells = needle_side**2
    pulls = cells // 2 - 1
    for nu in (1.0, 1.5):
        needles = Needles(needle_side, EPSILON, depth=3, nu=nu)
        on_needles = Experiment(needles, RULES | exact, pulls)
        plan[f"needles, nu {nu:g}"] = Planned(on_needles, cells, seed)
        job = partial(measures.nonadaptive_regrets, needles, [int(pulls**0.5)])
        plan[f"needles, NonAda, nu {nu:g}"] = Planned(job, cells, seed)

    play("one layer", replace(norm_2, widths=(1,)), {"GP-UCB": black_box_ucb}, norm_2_chains)
    return plan
