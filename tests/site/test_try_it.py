"""Scenes of the papers: what is kept can be made again, what their words say is so, and the page is small."""

import json
import re

import matplotlib.pyplot as plt
import numpy as np
import pytest
from players import POLICIES

import kbrepro as kb
from kbrepro import papers
from kbrepro.figures import live
from kbrepro.figures.live import moments
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
        assert one == other if isinstance(one, str | bool) else abs(one - other) < 2e-3


@pytest.mark.parametrize("paper", PAPERS)
def test_a_scene_says_two_sentences_and_one_thing_to_try_and_looks_are_known(paper):
    its = live.read(paper)
    assert len(its["says"]) == 2 and its["try"].rstrip(")")[-1] in "?." and len(its["title"]) < 60
    text = json.loads(re.search(r"<script type=.application/json.>(.*?)</script>", live.html(paper))[1])
    assert text["scene"] == its
    players = {p["name"] for moment in its.get("moments", []) for p in moment["players"]}
    assert players | set(its.get("shown", [])) | {its.get("hero", "EI")} <= set(text["looks"])
    assert set(POLICIES) <= set(text["looks"])


@pytest.mark.parametrize("paper", PAPERS)
def test_the_still_picture_is_readable(paper, styled, checked):
    figure = try_it.maker(paper).still()
    assert checked(figure)
    plt.close(figure)


# What the words of each scene say


def test_scene_1_a_narrower_band_misses_and_yet_has_less_regret():
    [moment] = live.read("gp_ucb")["moments"]
    proved, narrow = moments.played(moment["truth"], moment["players"], POLICIES)
    t = moment["t"]
    assert all(seen["holds"] for seen in proved)
    assert not narrow[t - 1]["holds"] and 0.6 < np.mean([seen["holds"] for seen in narrow]) < 0.9
    assert 0.6 < narrow[t - 2]["regret"] / proved[t - 2]["regret"] < 0.7
    spread = [np.std([seen["arm"] for seen in its[t - 16 : t - 1]]) for its in (proved, narrow)]
    assert spread[0] > 4 * spread[1]


def test_scene_2_a_lucky_observation_lifts_the_target_and_a_margin_frees():
    incumbent, margin = live.read("igp_ucb")["moments"]
    f, t = np.array(incumbent["truth"]["f"]), incumbent["t"]
    plain, noisy = moments.played(incumbent["truth"], incumbent["players"], POLICIES)
    best = max(seen["y"] for seen in noisy[: t - 1])
    assert best > f.max() + 0.5 and noisy[-1]["regret"] > 5 * plain[-1]["regret"]
    assert f[plain[t - 1]["arm"]] > f.max() - 0.05 * np.ptp(f)
    stuck, free = moments.played(margin["truth"], margin["players"], POLICIES)
    g = np.array(margin["truth"]["f"])
    assert (
        all(g.max() - g[seen["arm"]] > 0.1 for seen in stuck[-20:]) and stuck[-1]["regret"] > 1.5 * free[-1]["regret"]
    )
    assert np.mean([g[seen["arm"]] > g.max() - 0.1 for seen in free[-20:]]) > 0.8


def test_scene_3_small_cells_lie_where_f_is_high_and_round_the_best_arm():
    its = live.read("pi_gp_ucb")
    f, points = np.array(its["f"]), kb.grid(its["side"], 2)
    last, first = its["frames"][its["open"]]["cells"], its["frames"][0]["cells"]
    parts = [cell[2] for cell in last]
    small = [cell for cell in last if cell[2] == max(parts)]

    def inside(cell):
        corner = np.array(cell[:2])
        return ((corner / cell[2] <= points) & (points <= (corner + 1) / cell[2])).all(axis=1)

    covered = np.any([inside(cell) for cell in small], axis=0)
    assert len(first) < len(last) and {cell[2] for cell in first} < set(parts)
    assert covered[f.argmax()] and np.allclose(points[f.argmax()], its["best"], atol=1e-3)
    assert f[covered].min() > np.median(f) and f[covered].mean() > f[~covered].mean() + 20


def test_scene_4_one_dictionary_starves_the_other_does_not():
    its = live.read("bkb")
    views, x, f = its["frames"][its["open"]]["views"], np.array(its["x"]), np.array(its["f"])
    unseen, bands = x > its["upto"] + 0.1, {name: its["band"] * np.array(view["sd"]) for name, view in views.items()}
    off = {name: np.abs(f - view["mean"]) > bands[name] for name, view in views.items()}
    assert max(x for x, _ in its["observed"]) <= its["upto"]
    assert off["SoR"][x > 0.8].all() and bands["SoR"][x > 0.8].max() < 0.3
    assert not off["BKB"][x > its["upto"]].any() and np.all(bands["BKB"][unseen] > 0.95 * bands["exact"][unseen])


def test_scene_5_the_envelope_narrows_the_interval_of_the_reward():
    its = live.read("gpn_ucb")
    widths = [{kind: high - low for kind, (low, high) in f["intervals"][-1].items()} for f in its["frames"]]
    assert all(w["with"] <= w["without"] + 1e-3 for w in widths)
    assert widths[its["open"]]["with"] < 0.7 * widths[its["open"]]["without"]
    assert any(abs(w["with"] - w["without"]) < 0.02 for w in widths[its["open"] + 1 :])
    for frame in its["frames"]:
        for (low, high), true in zip((its["with"] for its in frame["intervals"]), its["arm"], strict=True):
            assert low - 0.01 <= true <= high + 0.01  # the paper's sets hold at points of a grid, not between
    assert its["arm"][0] not in {z for z, _ in its["seen"][0]}


# The page


def test_the_page_has_every_scene_once_and_is_small(tmp_path):
    page = try_it.page(NOTEBOOKS, tmp_path)
    assert len(page.encode()) < 400_000
    assert [its for its in PAPERS if page.count(f'id="scene-{its}"') == 1] == PAPERS and len(PAPERS) == 5
    assert page.count("const GP = ") == 1 and "http" not in page.replace("http-equiv", "")
    assert sorted(path.stem for path in tmp_path.rglob("*.svg")) == sorted(PAPERS)


def test_a_paper_without_a_scene_has_no_link():
    assert try_it.link("99_none") == "" and try_it.scenes(["99_none"]) == {}
    assert "try_it.md#try-bkb" in try_it.link("04_bkb_variance_starvation")


def test_a_notebook_shows_its_scene_in_one_piece():
    its = live.show("bkb")
    shown = its._repr_html_()
    assert live.html("bkb") in shown and shown.count("<script>") == 1 and live.read("bkb")["says"][0] in repr(its)
