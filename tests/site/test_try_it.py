"""Scenes of the papers: what is kept can be made again, what their words say is so, and the page is small."""

import json
import re
from itertools import pairwise

import matplotlib.pyplot as plt
import nbformat
import numpy as np
import pytest
from colours import CONTRAST, TOLD_APART, contrast_with_white, distance
from players import POLICIES

from kbrepro import papers, paths
from kbrepro.figures import live
from kbrepro.figures.live import moments
from kbrepro.figures.style import look
from kbrepro.site import try_it

NOTEBOOKS = [paper.notebook for paper in papers.found().values()]
PAPERS = list(try_it.scenes(NOTEBOOKS))


def flat(its):
    """Numbers and texts of nested lists and dictionaries, in order."""
    if isinstance(its, dict | list | tuple):
        for inner in its.values() if isinstance(its, dict) else its:
            yield from flat(inner)
    else:
        yield its


@pytest.mark.parametrize("paper", PAPERS)
def test_what_is_kept_is_what_is_made_today(paper):
    kept, made = list(flat(live.read(paper))), list(flat(try_it.maker(paper).scene()))
    assert [type(its) for its in kept] == [type(its) for its in made]
    for one, other in zip(kept, made, strict=True):
        assert one == other or (isinstance(one, float) and abs(one - other) < 2e-3)


@pytest.mark.parametrize("paper", PAPERS)
def test_a_scene_says_two_sentences_and_one_thing_to_try_and_looks_are_known(paper):
    its = live.read(paper)
    assert len(its["says"]) == 2 and its["try"].rstrip(")")[-1] in "?." and len(its["title"]) < 60
    text = json.loads(re.search(r"<script type=.application/json.>(.*?)</script>", live.html(paper))[1])
    assert text["scene"] == its
    assert set(POLICIES) <= set(text["looks"])


@pytest.mark.parametrize("paper", PAPERS)
def test_the_still_picture_is_readable(paper, styled, checked):
    figure = try_it.maker(paper).still()
    assert checked(figure)
    plt.close(figure)


def test_the_mark_of_a_miss_is_told_from_every_policy_and_seen_on_light_and_dark():
    colour, _ = moments.MISSED
    assert (
        min(distance(colour, other) for other in {"#222222", *(look(name)["color"] for name in POLICIES)}) > TOLD_APART
    )
    assert CONTRAST <= contrast_with_white(colour) <= 17.5 / CONTRAST  # 17.5: white on the dark page


def test_the_live_scenes_name_their_button():
    script = (live.HERE / "live.js").read_text(encoding="utf-8")
    for paper in ("gp_ucb", "igp_ucb"):
        assert f'"{re.search("Press “(Play.*?)”|$", live.read(paper)["try"])[1]}"' in script


# What the words of each scene say


def test_scene_1_a_narrower_band_misses_and_yet_has_less_regret():
    [moment] = live.read("gp_ucb")["moments"]
    proved, narrow = moments.played(moment["truth"], moment["players"], POLICIES)
    t = moment["t"]
    assert len(moment["truth"]["f"]) == moments.N_ARMS and live.read("gp_ucb")["delta"] == moments.DELTA
    assert f"{moments.N_ARMS} arms and δ = {moments.DELTA}" in live.read("gp_ucb")["says"][0]
    assert all(seen["holds"] for seen in proved) and 0.4 < np.mean([seen["holds"] for seen in narrow[:t]]) < 0.6
    assert abs(proved[t - 2]["arm"] - np.argmax(moment["truth"]["f"])) > 80  # the open dot, far from the best arm
    assert not narrow[t - 1]["holds"] and 0.6 < np.mean([seen["holds"] for seen in narrow]) < 0.9
    assert 0.6 < narrow[t - 2]["regret"] / proved[t - 2]["regret"] < 0.7
    spread = [np.std([seen["arm"] for seen in its[t - 16 : t - 1]]) for its in (proved, narrow)]
    assert spread[0] > 4 * spread[1]


def test_scene_2_a_lucky_observation_lifts_the_target_and_a_margin_frees():
    incumbent, margin = live.read("igp_ucb")["moments"]
    f, t = np.array(incumbent["truth"]["f"]), incumbent["t"]
    plain, noisy = moments.played(incumbent["truth"], incumbent["players"], POLICIES)
    best = max(seen["y"] for seen in noisy[: t - 1])
    records = np.unique(np.maximum.accumulate([seen["y"] for seen in noisy[: t - 1]]))
    assert np.sum(records > f.max()) > 1 and abs(noisy[t - 1]["arm"] - f.argmax()) > 100  # lucky ones; exploring
    assert best > f.max() + 0.5 and noisy[-1]["regret"] > 5 * plain[-1]["regret"]
    assert f[plain[t - 1]["arm"]] > f.max() - 0.05 * np.ptp(f)
    stuck, free = moments.played(margin["truth"], margin["players"], POLICIES)
    g = np.array(margin["truth"]["f"])
    assert (
        all(g.max() - g[seen["arm"]] > 0.1 for seen in stuck[-20:]) and stuck[-1]["regret"] > 1.5 * free[-1]["regret"]
    )
    assert np.mean([g[seen["arm"]] > g.max() - 0.1 for seen in free[-20:]]) > 0.8


def marks(frame, panel, kind):
    """What the marks of one kind in a panel of a frame are given."""
    return [given for name, *given in frame["marks"][panel] if name == kind]


def test_scene_4_one_dictionary_starves_the_other_does_not():
    its = live.read("bkb")
    x, last = np.array(its["panels"][0]["inputs"]), its["frames"][its["open"]]
    f = np.array(its["panels"][0]["over"][0][2])
    (exact, sor), (_, bkb) = ([np.array(given[:2]) for given in marks(last, panel, "area")] for panel in (0, 1))
    [(dots, _)] = marks(last, 0, "dots")
    assert max(arm for arm, _ in dots) <= 0.5
    assert np.all((f < sor[0]) | (f > sor[1]), where=x > 0.8) and np.ptp(sor, axis=0)[x > 0.8].max() < 0.6
    assert np.all((bkb[0] <= f) & (f <= bkb[1]), where=x > 0.5)
    assert np.all(np.ptp(bkb, axis=0) > 0.95 * np.ptp(exact, axis=0), where=x > 0.6)
    assert "100 % of the points for BKB" in last["says"]
    assert all(int(re.search(r"(\d+) % of the points for SoR", frame["says"])[1]) < 50 for frame in its["frames"])


def test_scene_5_an_interval_passes_every_layer_and_the_envelope_narrows_that_of_the_reward():
    its = live.read("gpn_ucb")
    truth, widths = [panel["over"][1][1:3] for panel in its["panels"]], []
    inputs, dots = np.array(its["panels"][0]["inputs"]), its["frames"][-1]["marks"][0][-1][1]
    for frame in its["frames"]:
        passed = [[given[0][0] for given in marks(frame, i, "boxes")[::2]] for i in range(3)]
        for before, after in pairwise(passed):  # without envelope and with it: what came out goes in
            assert [box[1:4:2] for box in before] == [box[0:4:2] for box in after]
        assert passed[0][0][1:] == pytest.approx(passed[0][1][1:], abs=2e-3)  # no envelope is laid on layer 1
        for (_, (left, low, right, high, _)), (into, out) in zip(passed, truth, strict=True):
            assert (
                left - 0.01 <= into <= right + 0.01 and low - 0.01 <= out <= high + 0.01
            )  # sets hold at points of a grid
        arm, [(lower, upper, *_)] = np.abs(inputs - truth[0][0]).argmin(), marks(frame, 0, "area")
        assert [lower[arm], upper[arm]] == pytest.approx(passed[0][1][1:4:2], abs=0.01)  # the bar is the band there
        widths.append([high - low for _, low, _, high, _ in passed[-1]])
    assert all(cut <= plain + 1e-3 for plain, cut in widths)
    assert widths[its["open"]][1] < 0.7 * widths[its["open"]][0]
    assert any(abs(plain - cut) < 0.02 for plain, cut in widths[its["open"] + 1 :])
    assert len(dots) == 1 and truth[0][0] != dots[0][0]


# The page


def test_the_page_has_every_scene_once_and_is_small(tmp_path):
    page = try_it.page(NOTEBOOKS, tmp_path)
    assert len(page.encode()) < 400_000
    assert [its for its in PAPERS if page.count(f'id="scene-{its}"') == 1] == PAPERS and len(PAPERS) == 4
    assert sum((live.HERE / name).stat().st_size for name in live.SCRIPTS) <= 20 * 1024
    assert page.count("const GP = ") == 1 and "http" not in page.replace("http-equiv", "")
    assert sorted(path.stem for path in tmp_path.rglob("*.svg")) == sorted(PAPERS)


def test_a_paper_without_a_scene_has_no_link():
    assert try_it.link("99_none") == "" and try_it.scenes(["99_none"]) == {}
    assert "try_it.md#try-bkb" in try_it.link("04_bkb_variance_starvation")


def test_a_notebook_shows_its_scene_in_one_piece():
    its = live.show("bkb")
    shown = its._repr_html_()
    assert live.html("bkb") in shown and shown.count("<script>") == 1 and live.read("bkb")["says"][0] in repr(its)


@pytest.mark.parametrize("paper", PAPERS)
def test_kept_notebooks_show_their_scene_by_todays_scripts(paper):
    root, stem = paths.project_root(), papers.found()[paper].notebook
    for kept in (root / "notebooks" / f"{stem}.ipynb", root / "results/paper" / stem / "notebook.ipynb"):
        cells = nbformat.read(kept, as_version=4).cells
        (shown,) = [cell for cell in cells if f'live.show("{paper}")' in cell.source]
        (output,) = shown.outputs
        assert output.data["text/html"] == live.show(paper)._repr_html_(), f"{kept.name} is out of date: {stem}"
