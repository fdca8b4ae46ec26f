"""The live scenes: what is kept can be made again, what their words say is so, and the page is small."""

import json
import re

import matplotlib.pyplot as plt
import nbformat
import numpy as np
import pytest
from colours import CONTRAST, TOLD_APART, contrast_with_white, distance
from players import POLICIES

from kbrepro import papers, paths, try_it
from kbrepro.figures import live
from kbrepro.figures.live import moments
from kbrepro.figures.style import look

PAPERS = [paper for paper in papers.found() if "moments" in (live.read(paper) if live.path(paper).is_file() else {})]


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
def test_a_scene_and_the_looks_of_its_policies_are_in_its_page(paper):
    text = json.loads(re.search(r"<script type=.application/json.>(.*?)</script>", live.html(paper))[1])
    assert text["scene"] == live.read(paper)
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


# The page


def test_the_page_has_every_scene_once_and_is_small(tmp_path):
    page = try_it.page(tmp_path)
    assert len(page.encode()) < 400_000
    assert [its for its in PAPERS if page.count(f'id="scene-{its}"') == 1] == PAPERS
    assert page.count("const GP = ") == 1 and "http" not in page.replace("http-equiv", "")
    assert sorted(path.stem for path in tmp_path.rglob("*.svg")) == sorted(PAPERS)


def test_a_notebook_shows_its_scene_in_one_piece_by_todays_scripts():
    for paper in PAPERS:
        shown = live.show(paper)
        html = shown._repr_html_()
        assert live.html(paper) in html and html.count("<script>") == 1 and live.read(paper)["says"][0] in repr(shown)
        path = paths.project_root() / "notebooks" / f"{papers.found()[paper].notebook}.ipynb"
        cells = nbformat.read(path, as_version=4).cells
        (output,) = [cell.outputs[0] for cell in cells if f'live.show("{paper}")' in cell.source]
        assert output.data["text/html"] == html, f"{path.name} is out of date: kbrepro refresh"
