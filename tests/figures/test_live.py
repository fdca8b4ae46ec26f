"""Try it, run by quickjs: what pages compute is what kbrepro computes, and what the words of a
scene say is so.
"""

import json
import re
from functools import partial
from pathlib import Path

import nbformat
import numpy as np
import pytest

import kbrepro as kb
from kbrepro import papers, paths
from kbrepro.bandits.policies.base import best_arm
from kbrepro.figures import live
from kbrepro.figures.style import LOOK

quickjs = pytest.importorskip("quickjs", reason="quickjs has no wheel for this Python")

DELTA = 0.1
KERNELS = {"SE": kb.SquaredExponential, "Matérn 5/2": partial(kb.Matern, nu=2.5)}
#: The policies of posterior.js, in its order, as kbrepro has them.
POLICIES = {
    "GP-UCB": partial(kb.UCB, width=kb.Srinivas2010(DELTA)),
    "GP-UCB/5": partial(kb.UCB, width=kb.Srinivas2010(DELTA, beta_scale=0.2)),
    "EI": kb.ExpectedImprovement,
    "EI, noisy incumbent": partial(kb.ExpectedImprovement, incumbent="noisy_reward"),
}

SOURCE = (live.HERE / "posterior.js").read_text(encoding="utf-8")
#: JSON would write a typed array as an object.
LISTS = "(key, its) => (ArrayBuffer.isView(its) ? [...its] : its)"
PROBLEMS, ROUNDS = 24, 60


def engine():
    """A context that has the script; `call(name, *arguments)` passes numbers as JSON, as doubles
    print exactly.
    """
    context = quickjs.Context()
    context.eval(SOURCE + "\nglobalThis.GP = GP;")
    return lambda name, *given: json.loads(
        context.eval(
            f"JSON.stringify(GP.{name}({', '.join(json.dumps(its) for its in given)}), {LISTS})"
        )
    )


def problem(n):
    """Problem n: what is true, what a policy is given, its name; kernel, policy, margin and size
    take turns.
    """
    rng, size, name = (
        np.random.default_rng([36, n]),
        (200 if n % 12 > 9 else 50),
        list(POLICIES)[n % 4],
    )
    (true, given), (noise_sd, assumed_sd) = rng.uniform(0.03, 0.4, 2), rng.uniform(0.1, 0.8, 2)
    f = kb.GPDraw(kb.Matern(true, nu=2.5), kb.grid(size), 0.1)(kb.Trial(36, n)).expected_reward
    rank, noise = rng.permutation(size), rng.standard_normal(ROUNDS)
    truth = {"x": kb.grid(size)[:, 0], "f": f, "noise": noise, "noiseSd": noise_sd, "rank": rank}
    assumed = {
        "kernel": list(KERNELS)[n // 4 % 2],
        "lengthscale": given,
        "noiseVariance": assumed_sd**2,
        "delta": DELTA,
    }
    return truth, assumed | {"margin": 0.1 * (n // 8 % 2) * name.startswith("EI")}, name


def kbrepros(truth, assumed, name):
    """Of every round what kbrepro has: posterior, index, width or target, arm, whether the band
    holds, regret.
    """
    model = kb.Model(
        truth["x"][:, None],
        KERNELS[assumed["kernel"]](assumed["lengthscale"]),
        assumed["noiseVariance"],
    )
    margin = {"margin": assumed["margin"]} if name.startswith("EI") else {}
    policy, f, regret = POLICIES[name](model, ROUNDS, **margin), truth["f"], 0.0
    for t in range(1, ROUNDS + 1):
        seen = {
            "mean": policy.posterior.mean.copy(),
            "sd": policy.posterior.sd,
            "index": policy.index().copy(),
        }
        if margin:
            seen["target"] = policy.target()
        else:
            seen |= {"width": policy.width(policy), "holds": policy.band_ratio(f) <= 1}
        seen["arm"] = best_arm(seen["index"], truth["rank"])
        regret += f.max() - f[seen["arm"]]
        policy.tell(seen["arm"], f[seen["arm"]] + truth["noiseSd"] * truth["noise"][t - 1])
        yield seen | {"regret": regret}


def plain(its):
    return {
        name: value.tolist() if isinstance(value, np.ndarray) else value
        for name, value in its.items()
    }


@pytest.mark.parametrize("n", range(PROBLEMS))
def test_every_round_is_kbrepros(n):
    truth, assumed, name = problem(n)
    theirs = engine()("play", plain(truth), assumed, name, ROUNDS)
    for t, (seen, js) in enumerate(
        zip(kbrepros(truth, assumed, name), theirs, strict=True), start=1
    ):
        for key, value in seen.items():
            off = np.abs(np.array(js[key], dtype=float) - value)
            assert np.all(off <= 1e-10 * (1 + np.abs(value))), (name, t, key, off.max())


def test_a_pull_by_hand_overrules_one_round():
    truth, assumed, _ = problem(9)
    own = [its["arm"] for its in engine()("play", plain(truth), assumed, "GP-UCB", 6)]
    by_hand = [
        its["arm"] for its in engine()("play", plain(truth), assumed, "GP-UCB", 6, {"4": 33})
    ]
    assert by_hand[:4] == [*own[:3], 33] and own[3] != 33 and by_hand[4:] != own[4:]


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_draw_has_the_covariance_of_its_kernel(kernel):
    context, n, x = quickjs.Context(), 1500, kb.grid(12)
    context.eval(
        SOURCE + f"\nconst random = GP.generator(5), x = {json.dumps(x[:, 0].tolist())}, all = [];"
    )
    context.eval(
        f"for (let n = 0; n < {n}; n++) all.push([...GP.draw(x, {json.dumps(kernel)}, 0.3,"
        " random)])"
    )
    f = np.array(json.loads(context.eval("JSON.stringify(all)")))
    K = KERNELS[kernel](0.3)(x, x)
    # an entry's standard deviation is at most sqrt(2 / n)
    assert np.abs(f.T @ f / n - K).max() < 5 * np.sqrt(2 / n)


# The scenes


def scene(paper):
    """What the scene of a paper says and opens on."""
    path = Path(papers.__file__).parent / paper / "scene.json"
    return json.loads(path.read_text(encoding="utf-8"))


def opened(paper):
    """Of every moment of a scene f, the round shown, and what the script plays for both players."""
    call, x = engine(), kb.grid(200)[:, 0].tolist()
    for moment in scene(paper)["moments"]:
        context = quickjs.Context()
        given = {name: moment[name] for name in ("kernel", "lengthscale", "noiseSd")}
        context.eval(
            f"{SOURCE}\nconst on = GP.drawn({x}, {json.dumps(given)}, 100,"
            f" GP.generator({moment['seed']}))"
        )
        truth = json.loads(context.eval(f"JSON.stringify(on, {LISTS})"))
        assumed = given | {"noiseVariance": given["noiseSd"] ** 2, "delta": DELTA}
        runs = [
            call("play", truth, assumed | {"margin": player["margin"]}, player["name"], 100)
            for player in moment["players"]
        ]
        yield np.array(truth["f"]), moment["t"], *runs


@pytest.mark.slow
def test_the_words_of_both_scenes_are_so():
    ((f, t, proved, narrow),) = opened("gp_ucb")
    assert (
        all(seen["holds"] for seen in proved)
        and 0.55 < np.mean([seen["holds"] for seen in narrow[:t]]) < 0.65
    )
    assert 0.55 < narrow[t - 2]["regret"] / proved[t - 2]["regret"] < 0.65
    assert np.ptp([seen["arm"] for seen in proved[t - 16 : t - 1]]) > 180  # all over
    (f, t, plain, noisy), (g, _, stuck, free) = opened("igp_ucb")
    assert (
        max(seen["y"] for seen in noisy[: t - 1]) > f.max() + 0.5
        and abs(noisy[t - 1]["arm"] - f.argmax()) > 100
    )
    assert f[plain[t - 1]["arm"]] > f.max() - 0.05 * np.ptp(f)
    assert all(g.max() - g[seen["arm"]] > 0.1 for seen in stuck[-20:])
    assert np.mean([g[seen["arm"]] > g.max() - 0.1 for seen in free[-20:]]) > 0.8


@pytest.mark.parametrize("paper", ["gp_ucb", "igp_ucb"])
def test_notebooks_show_the_scenes_by_todays_scripts(paper, styled):
    html = live.show(paper).data
    assert set(POLICIES) <= set(LOOK) and "http" not in html and scene(paper)["says"][0] in html
    # the button of that name
    assert f'"{re.search("Press “(Play.*?)”|$", scene(paper)["try"])[1]}"' in html
    path = paths.project_root() / "notebooks" / f"{papers.found()[paper].notebook}.ipynb"
    cells = nbformat.read(path, as_version=4).cells
    (output,) = [cell.outputs[0] for cell in cells if f'live.show("{paper}")' in cell.source]
    assert output.data["text/html"] == html, f"{path.name} is out of date: kbrepro refresh"
