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
    with_own_ties,
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
#: Kinds of chains, and whether one maximiser is obvious.
KINDS = {"several": False, "obvious": True}
#: As the paper has it: an envelope in every layer (eqs. 9 and 10), shortcuts in the later ones.
AS_IN_L2 = partial(GPNUCB, all_arms=True)
OTHERS: Rules = {
    "cUCB": CascadeUCB,
    "OI": OptimisticImprovement,
    "GP-UCB": black_box_ucb,
    "EI": black_box_ei,
}
RULES: Rules = {"GPN-UCB": AS_IN_L2} | OTHERS
#: GPN-UCB as in L.2 but for one thing.
VERSIONS: Rules = {
    "with the point itself": partial(GPNUCB, all_arms=True, itself=True),
    "no envelope": partial(GPNUCB, envelope=False),
    "400 points": partial(GPNUCB, all_arms=True, n_grid=400),
    "over all of D": partial(GPNUCB, all_arms=True, radius=10.0),
}
#: Trials of a label of a rule that takes long: its labels end in 0, 1, 2, ...
PART = 32


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
    counted_chains: int,
    chains: int,
    trials_per_chain: int,
    sampled_trials: int,
    long_chains: int,
    more_trials: int,
    norm_2_trials: int,
    norm_2_sampled: int,
    version_chains: int,
    bound_chains: int,
    explorations: list[float],
    networks: int,
    network_horizon: int,
    needle_side: int,
) -> Plan:
    """Return what is played, by label, from the notebook's parameters."""
    plan: Plan = {}
    draws, norm_2, times = DrawnChain(side), exact_chain(side), trials_per_chain
    exact: Rules = {"cEI, exact": ExactCascadeEI}
    both: Rules = {"cEI": partial(SampledCascadeEI, samples=samples)} | exact
    small = {b: partial(OptimisticImprovement, b=b) for b in explorations if b < 1}
    large = {b: partial(OptimisticImprovement, b=b) for b in explorations if b > 1}
    own_ties = {
        rule: partial(with_own_ties, rule=make, key=key)
        for key, (rule, make) in enumerate(OTHERS.items(), 1)
    }

    def play(label: str, source: Source, rules: Mapping[object, Make], n: int) -> None:
        plan[label] = Planned(Experiment(source, rules, horizon), n, seed)

    def play_few(
        label: str,
        source: Repeated,
        rules: Mapping[object, Make],
        few: int,
        on: int,
        begin: int = 0,
        part: int = 0,
    ) -> None:
        """Few of the trials on each of the first chains, in labels of `part` trials."""
        experiment = Experiment(source, rules, horizon)
        job = partial(measures.play_few, experiment, few, source.times, begin=begin)
        if not part:
            plan[label] = Planned(job, few * on, seed)
            return
        for number, first in enumerate(range(0, few * on, part)):
            n = min(part, few * on - first)
            plan[f"{label} {number}"] = Planned(job, n, seed, first)

    plan["chains, draws"] = Planned(partial(measures.chain_facts, draws), counted_chains, seed)
    for kind, obvious in KINDS.items():
        numbers = chosen(DrawnChain, side, chains, obvious, seed)
        n = len(numbers)
        once, again = Repeated(draws, 1, numbers), Repeated(draws, times, numbers)
        plan[f"{kind}, facts"] = Planned(partial(measures.chain_facts, once), n, seed)
        play(kind, again, RULES, n * times)
        play(f"{kind}, no envelope in layer 1", again, {"GPN-UCB": GPNUCB}, n * times)
        play(f"{kind}, own ties", again, own_ties, n * times)
        job = partial(measures.nonadaptive_regrets, once, sides(horizon))
        plan[f"{kind}, NonAda"] = Planned(job, n, seed)
        few = sampled_trials
        play_few(f"{kind}, cEI", again, both, few, n, part=PART // few * few)
        few = more_trials
        most = min(long_chains, n)
        begin = sampled_trials
        play_few(f"{kind}, more of cEI", again, both, few, most, begin, part=PART // few * few)

        play(f"{kind}, OI", again, small, n * times)
        first_chain = Repeated(draws, times, numbers[:1])
        play(f"Fig. 10, {kind}", first_chain, large, times)
        play_few(f"{kind}, versions", again, VERSIONS, 1, min(version_chains, n))
        play_few(
            f"{kind}, L = 1",
            replace(again, source=replace(draws, lipschitz=1.0)),
            {"cUCB": CascadeUCB},
            1,
            n,
        )
        job = partial(measures.relative_widths, once, 20, all_arms=True)
        plan[f"{kind}, relative widths"] = Planned(job, n, seed)
        play_few(
            f"{kind}, B 4",
            replace(again, source=replace(draws, norm_bound=4.0)),
            {"GPN-UCB": AS_IN_L2},
            1,
            min(bound_chains, n),
        )

        true = chosen(exact_chain, side, chains, obvious, seed)
        again = Repeated(norm_2, norm_2_trials, true)
        job = partial(measures.chain_facts, Repeated(norm_2, 1, true))
        plan[f"norm 2, {kind}, facts"] = Planned(job, len(true), seed)
        play(f"norm 2, {kind}", again, RULES | exact, len(true) * norm_2_trials)
        sampled = {"cEI": both["cEI"]}
        play_few(f"norm 2, {kind}, cEI", again, sampled, 1, min(norm_2_sampled, len(true)))
        unenveloped = {"no envelope": VERSIONS["no envelope"]}
        play_few(f"norm 2, {kind}, no envelope", again, unenveloped, 1, len(true))
    several = Repeated(draws, times, chosen(DrawnChain, side, chains, False, seed))
    play_few("several, large b", several, large, sampled_trials, chains)

    def on_networks(label: str, what: Experiment | Callable[[Trial], object]) -> None:
        plan[label] = Planned(what, networks, seed, block=5)

    for structure, (network, _) in SMALL.items():
        job = partial(measures.composed_errors, network, [2, 3, 4, 5, 6, 7])
        on_networks(f"Appendix G, {structure}", job)
    on_networks("rate of NonAda", partial(measures.design_errors, ROUGH_LAYERS, PULLS))
    network, n_grid = FINE
    for mode, size in (("outward", n_grid), ("paper", 100)):
        bound = partial(measures.bound_ratios, network, size, network_horizon)
        on_networks(f"chain, {mode}", partial(bound, mode=mode, all_arms=True))
    for structure, envelope in (("multi-output", {}), ("feed-forward", {"all_arms": True})):
        network, n_grid = SMALL[structure]
        rule = {"GPN-UCB": partial(GPNUCB, n_grid=n_grid, half_width=1.5, **envelope)}
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

    play("one layer", replace(norm_2, widths=(1,)), {"GP-UCB": black_box_ucb}, chains)
    return plan
