"""Try it, run by quickjs: what pages compute is what kbrepro computes, and what the words of a scene say is so."""

import json
import re
from functools import partial

import nbformat
import numpy as np
import pytest

import kbrepro as kb
from kbrepro import papers, paths
from kbrepro.confidence import Chowdhury2017, Flynn2024, Srinivas2010
from kbrepro.figures import live
from kbrepro.figures.style import LOOK
from kbrepro.policies import UCB, ExpectedImprovement, MeanOnly, ProbabilityOfImprovement
from kbrepro.policies.base import best_arm
from kbrepro.problems import Trial

quickjs = pytest.importorskip("quickjs", reason="quickjs has no wheel for this Python")

DELTA = 0.1
KERNELS = {
    "SE": kb.SquaredExponential,
    "Matérn 3/2": partial(kb.Matern, nu=1.5),
    "Matérn 5/2": partial(kb.Matern, nu=2.5),
}
#: The policies of posterior.js, in its order, as kbrepro has them.
POLICIES = {
    "GP-UCB": partial(UCB, width=Srinivas2010(DELTA)),
    "GP-UCB/5": partial(UCB, width=Srinivas2010(DELTA, beta_scale=0.2)),
    "IGP-UCB": partial(UCB, width=Chowdhury2017(DELTA)),
    "IGP-UCB, tighter": partial(UCB, width=Flynn2024(DELTA)),
    "EI": ExpectedImprovement,
    "EI, noisy incumbent": partial(ExpectedImprovement, incumbent="noisy_reward"),
    "PI": partial(ProbabilityOfImprovement, margin=0.0),
    "PI, noisy incumbent": partial(ProbabilityOfImprovement, incumbent="noisy_reward", margin=0.0),
    "mean only": MeanOnly,
}

SOURCE = (live.HERE / "posterior.js").read_text(encoding="utf-8")
#: JSON would write a typed array as an object.
LISTS = "(key, its) => (ArrayBuffer.isView(its) ? [...its] : its)"
PROBLEMS, ROUNDS = 50, 100


def engine():
    """A context that has the script; `call(name, *arguments)` passes numbers as JSON, as doubles print exactly."""
    context = quickjs.Context()
    context.eval(SOURCE + "\nglobalThis.GP = GP;")
    return lambda name, *given: json.loads(
        context.eval(f"JSON.stringify(GP.{name}({', '.join(json.dumps(its) for its in given)}), {LISTS})")
    )


def problem(n):
    """Problem n: what is true, what a policy is given, its name; kernel, policy and size take turns."""
    rng = np.random.default_rng([36, n])
    (true, given), sizes = rng.uniform(0.03, 0.4, 2), (200 if n % 10 == 9 else 50)
    kernel, name = list(KERNELS)[(n + n // 9) % 3], list(POLICIES)[n % 9]
    noise_sd, noise_variance, norm = rng.uniform(0.1, 0.8), rng.uniform(0.1, 0.8) ** 2, rng.uniform(0.5, 5)
    f = kb.GPDraw(kb.Matern(true, nu=2.5), kb.grid(sizes), noise_variance)(Trial(36, n)).expected_reward
    rank, noise = np.random.default_rng(n).permutation(sizes), rng.standard_normal(ROUNDS)
    truth = {"x": kb.grid(sizes)[:, 0], "f": f, "noise": noise, "noiseSd": noise_sd, "rank": rank}
    told = {"kernel": kernel, "lengthscale": given, "noiseVariance": noise_variance}
    margin = 0.1 * (n // 9 % 2) * (name[:2] in ("EI", "PI"))
    return truth, told | {"delta": DELTA, "norm": norm, "margin": margin}, name


def kbrepros(truth, told, name):
    """Of every round what kbrepro has: posterior, index, width or target, arm, whether the band holds, regret, gain."""
    kernel = KERNELS[told["kernel"]](told["lengthscale"])
    model = kb.Model(truth["x"][:, None], kernel, told["noiseVariance"], norm=told["norm"])
    margin = {"margin": told["margin"]} if name[:2] in ("EI", "PI") else {}
    policy, f, regret = POLICIES[name](model, ROUNDS, **margin), truth["f"], 0.0
    for t in range(1, ROUNDS + 1):
        its = policy.posterior
        seen = {"mean": its.mean.copy(), "sd": its.sd, "index": policy.index().copy(), "gain": its.gain}
        if isinstance(policy, UCB):
            seen |= {"width": policy.width(policy), "holds": policy.band_ratio(f) <= 1}
        elif margin:
            seen["target"] = policy.target()
        seen["arm"] = best_arm(seen["index"], truth["rank"])
        regret += f.max() - f[seen["arm"]]
        policy.tell(seen["arm"], f[seen["arm"]] + truth["noiseSd"] * truth["noise"][t - 1])
        yield seen | {"regret": regret}


def plain(its):
    return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in its.items()}


def differences(numbers):
    """What the script has otherwise, by more than 1e-10 (1 + |kbrepro's|): problem, round, name."""
    call = engine()
    for n in numbers:
        truth, told, name = problem(n)
        theirs = call("play", plain(truth), told, name, ROUNDS)
        for t, (seen, its) in enumerate(zip(kbrepros(truth, told, name), theirs, strict=True), start=1):
            for key, value in seen.items():
                off = np.abs(np.array(its[key], dtype=float) - value)
                if not np.all(off <= 1e-10 * (1 + np.abs(value))):
                    yield f"problem {n}, {name}, round {t}: {key} differs by {np.max(off):.2g}"


@pytest.mark.parametrize("policy", range(9), ids=list(POLICIES))
def test_every_round_of_fifty_problems_is_kbrepros(policy):
    assert next(differences(range(policy, PROBLEMS, 9)), None) is None


def test_a_pull_by_hand_overrules_one_round():
    truth, told, _ = problem(9)
    own = [its["arm"] for its in engine()("play", plain(truth), told, "GP-UCB", 6)]
    by_hand = [its["arm"] for its in engine()("play", plain(truth), told, "GP-UCB", 6, {"4": 33})]
    assert by_hand[:4] == [*own[:3], 33] and own[3] != 33 and by_hand[4:] != own[4:]


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_draw_has_the_covariance_of_its_kernel_and_a_norm_that_bounds_its_own(kernel):
    context, n, x = quickjs.Context(), 1500, kb.grid(12)
    context.eval(SOURCE + f"\nconst random = GP.generator(5), x = {json.dumps(x[:, 0].tolist())}, its = [];")
    context.eval(f"for (let n = 0; n < {n}; n++) its.push(GP.draw(x, {json.dumps(kernel)}, 0.3, random))")
    draws = json.loads(context.eval("JSON.stringify(its.map(({ f, norm }) => [...f, norm]))"))
    f, norms = np.array(draws)[:, :-1], np.array(draws)[:, -1]
    K = KERNELS[kernel](0.3)(x, x)
    assert np.abs(f.T @ f / n - K).max() < 5 * np.sqrt(2 / n)  # an entry's standard deviation is at most sqrt(2 / n)
    values, vectors = np.linalg.eigh(K)
    kept = values > 1e-8
    own = np.sqrt(((f @ vectors[:, kept]) ** 2 / values[kept]).sum(axis=1))
    assert np.all(own <= norms * (1 + 1e-4)) and np.median(norms) < 4.5


# The scenes


def opened(paper):
    """Of every moment of a scene f, the round shown, and what the script plays for both players."""
    call, x = engine(), kb.grid(200)[:, 0].tolist()
    for moment in live.show(paper).content["moments"]:
        context = quickjs.Context()
        given = {name: moment[name] for name in ("kernel", "lengthscale", "noiseSd")}
        context.eval(f"{SOURCE}\nconst on = GP.drawn({x}, {json.dumps(given)}, 100, GP.generator({moment['seed']}))")
        truth = json.loads(context.eval(f"JSON.stringify(on, {LISTS})"))
        told = given | {"noiseVariance": given["noiseSd"] ** 2, "delta": DELTA, "norm": truth["norm"]}
        runs = [
            call("play", truth, told | {"margin": player["margin"]}, player["name"], 100)
            for player in moment["players"]
        ]
        yield np.array(truth["f"]), moment["t"], *runs


def test_scene_1_a_narrower_band_misses_and_yet_has_less_regret():
    ((f, t, proved, narrow),) = opened("gp_ucb")
    assert all(seen["holds"] for seen in proved) and 0.55 < np.mean([seen["holds"] for seen in narrow[:t]]) < 0.65
    assert not narrow[t - 1]["holds"] and 0.6 < np.mean([seen["holds"] for seen in narrow]) < 0.9
    assert 0.55 < narrow[t - 2]["regret"] / proved[t - 2]["regret"] < 0.65
    arms = [[seen["arm"] for seen in played[t - 16 : t - 1]] for played in (proved, narrow)]
    assert np.ptp(arms[0]) > 180 and np.std(arms[0]) > 4 * np.std(arms[1])  # all over
    assert np.mean(f.max() - f[arms[0]]) > 3 * np.mean(f.max() - f[arms[1]])  # bad ones too


def test_scene_2_a_lucky_observation_lifts_the_target_and_a_margin_frees():
    (f, t, plain, noisy), (g, _, stuck, free) = opened("igp_ucb")
    best = max(seen["y"] for seen in noisy[: t - 1])
    assert best > f.max() + 0.5 and noisy[-1]["regret"] > 5 * plain[-1]["regret"]
    records = np.unique(np.maximum.accumulate([seen["y"] for seen in noisy[: t - 1]]))
    assert np.sum(records > f.max()) > 1 and abs(noisy[t - 1]["arm"] - f.argmax()) > 100  # lucky ones; exploring
    assert f[plain[t - 1]["arm"]] > f.max() - 0.05 * np.ptp(f)
    assert all(g.max() - g[seen["arm"]] > 0.1 for seen in stuck[-20:])
    assert stuck[-1]["regret"] > 1.5 * free[-1]["regret"]
    assert np.mean([g[seen["arm"]] > g.max() - 0.1 for seen in free[-20:]]) > 0.8


def test_the_page_has_both_scenes_and_the_scripts_once_and_notebooks_show_them_by_todays_scripts():
    page, names = live.page(), re.findall(r"\(try-(\w+)\)=", live.page())
    assert names == ["gp_ucb", "igp_ucb"] and page.count("const GP = ") == 1 and len(page.encode()) < 60_000
    assert set(POLICIES) <= set(LOOK) and "http" not in page
    for paper in names:
        shown = live.show(paper)
        assert shown.html() in page and shown.content["says"][0] in repr(shown)
        assert f'"{re.search("Press “(Play.*?)”|$", shown.content["try"])[1]}"' in page  # the button of that name
        path = paths.project_root() / "notebooks" / f"{papers.found()[paper].notebook}.ipynb"
        cells = nbformat.read(path, as_version=4).cells
        (output,) = [cell.outputs[0] for cell in cells if f'live.show("{paper}")' in cell.source]
        assert output.data["text/html"] == shown._repr_html_(), f"{path.name} is out of date: kbrepro refresh"
