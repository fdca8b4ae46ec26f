"""The scenes in a browser: each opens on its point, plays, is dragged, clicked and told another policy, in silence."""

import numpy as np
import pytest
from browser import CHROMIUM, Browser
from players import POLICIES

from kbrepro import papers, paths
from kbrepro.figures import live
from kbrepro.figures.live import moments
from kbrepro.site import try_it

WIDTHS = (1400, 820, 390)
NOTEBOOKS = [paper.notebook for paper in papers.found().values()]
RECORDED = ("bkb", "gpn_ucb")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no chromium, chromium-browser or google-chrome is installed"),
]


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The scenes alone in a page, as `try_it` writes them."""
    folder = tmp_path_factory.mktemp("scenes")
    head = '<!doctype html><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    paths.write_text(folder / "page.html", head + try_it.page(NOTEBOOKS, folder))
    return folder / "page.html"


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    browser = Browser(tmp_path_factory.mktemp("profile"))
    yield browser
    browser.close()


@pytest.fixture(params=WIDTHS)
def opened(request, browser, page):
    """The page in a window of some width; silent to the end."""
    browser.call("Emulation.setEmulatedMedia", features=[])
    browser.call("Emulation.setTouchEmulationEnabled", enabled=request.param < 600)
    browser.open(page, request.param)
    settled(browser)  # a scene is drawn when its width is first observed, which may be after the load
    yield browser
    settled(browser)
    assert browser.complaints == []


def settled(browser):
    browser.ask("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")


def of(paper, rest):
    return f"document.querySelector('#scene-{paper} {rest}"


def button(paper, words):
    return f"[...document.querySelectorAll('#scene-{paper} button')].find(b => b.textContent.includes('{words}'))"


def said(browser, paper):
    """What stands beside the slider and below each panel."""
    return browser.ask(f"[...document.querySelectorAll('#scene-{paper} :is(output, p)')].map(e => e.textContent)")


def place(browser, element, share):
    """A point of an element at a share of its width, in the window."""
    browser.ask(f"{element}.scrollIntoView({{ block: 'center' }})")
    box = browser.ask(f"(r => [r.x, r.y, r.width, r.height])({element}.getBoundingClientRect())")
    return {"x": box[0] + share * box[2], "y": box[1] + box[3] / 2}


def mouse(browser, kind, at):
    browser.call("Input.dispatchMouseEvent", type=kind, button="left", buttons=1, clickCount=1, **at)


def round_of(browser, paper):
    return int(browser.ask(of(paper, "input[aria-label=round]').value")))


def test_it_opens_on_its_moment_and_the_first_step_comes_within_a_second(opened):
    opened.ask(f"{button('gp_ucb', 'One step')}.click()")
    assert opened.ask("performance.now()") < 1000
    for paper in try_it.scenes(NOTEBOOKS):
        its = live.read(paper)
        at = its["open"] if "open" in its else its["moments"][0]["t"] - 1
        assert round_of(opened, paper) == at + (paper == "gp_ucb")
    wide = opened.ask("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert wide <= 0 and opened.ask("document.querySelectorAll('.live svg path').length") > 50


@pytest.mark.parametrize("paper", ["gp_ucb", "igp_ucb"])
def test_a_live_scene_shows_the_regret_and_the_band_that_kbrepro_has(opened, paper):
    for number, moment in enumerate(live.read(paper)["moments"]):
        if number:
            opened.ask(f"{button(paper, moment['name'])}.click()")
        told, t = " ".join(said(opened, paper)), moment["t"]
        for its in moments.played(moment["truth"], moment["players"], POLICIES):
            assert f"Regret so far {round(its[t - 2]['regret'] + 1e-9, 1):g};" in told
            held = sum(seen.get("holds", False) for seen in its[:t])
            assert (f"held f in {held} of {t} rounds" in told) == ("width" in its[0])


def test_the_moment_shown_is_pressed_and_the_key_and_the_labels_have_what_is_drawn(opened):
    pressed = "[...document.querySelectorAll('#scene-igp_ucb [aria-pressed=true]')].map(e => e.textContent)"
    first, second = (its["name"] for its in live.read("igp_ucb")["moments"])
    assert opened.ask(pressed) == [first]
    opened.ask(f"{button('igp_ucb', second)}.click()")
    assert opened.ask(pressed) == [second]
    labels = "[...document.querySelectorAll('#scene-igp_ucb .halo')].map(e => e.textContent)"
    assert opened.ask(labels) == ["left: EI", "right: EI, margin 0.1"]
    keys = {paper: opened.ask(of(paper, ".key').textContent")) for paper in ("gp_ucb", "igp_ucb")}
    assert moments.MISSED[1] in keys["gp_ucb"] and moments.STRIP not in keys["gp_ucb"]
    assert moments.MISSED[1] not in keys["igp_ucb"] and keys["igp_ucb"].count(moments.STRIP) == 1


@pytest.mark.parametrize("paper", RECORDED)
def test_a_recorded_scene_is_played_from_its_start_to_its_point(opened, paper):
    point, last = said(opened, paper), live.read(paper)["open"]
    start = of(paper, "input[aria-label=round]')")
    opened.ask(f"{start}.value = 0, {start}.dispatchEvent(new Event('input'))")
    seen = [said(opened, paper)]
    for _ in range(last):
        opened.ask(f"{button(paper, 'One step')}.click()")
        seen.append(said(opened, paper))
    assert seen[-1] == point and len({tuple(its) for its in seen}) == last + 1


def test_play_goes_on_by_itself_and_pauses(opened):
    before = round_of(opened, "gp_ucb")
    opened.ask(f"{button('gp_ucb', 'Play')}.click()")
    opened.ask("new Promise(done => setTimeout(done, 900))")
    opened.ask(f"{button('gp_ucb', 'Pause')}.click()")
    after = round_of(opened, "gp_ucb")
    opened.ask("new Promise(done => setTimeout(done, 500))")
    assert before < after == round_of(opened, "gp_ucb")


def test_whoever_wants_less_motion_sees_the_end_at_once(browser, page):
    wish = {"name": "prefers-reduced-motion", "value": "reduce"}
    browser.call("Emulation.setEmulatedMedia", features=[wish])
    browser.open(page, WIDTHS[0])
    browser.ask(f"{button('gp_ucb', 'Play')}.click()")
    assert round_of(browser, "gp_ucb") == moments.HORIZON - 1


def test_the_slider_of_rounds_is_dragged_and_moved_by_keys(opened):
    slider = of("igp_ucb", "input[aria-label=round]')")
    start = round_of(opened, "igp_ucb")
    mouse(opened, "mousePressed", place(opened, slider, (start + 0.5) / moments.HORIZON))
    for share in (0.5, 0.35, 0.2):
        mouse(opened, "mouseMoved", place(opened, slider, share))
    mouse(opened, "mouseReleased", place(opened, slider, 0.2))
    dragged = round_of(opened, "igp_ucb")
    assert 10 < dragged < 30 < start
    for kind in ("keyDown", "keyUp"):
        opened.call("Input.dispatchKeyEvent", type=kind, key="ArrowRight", code="ArrowRight", windowsVirtualKeyCode=39)
    assert round_of(opened, "igp_ucb") == dragged + 1
    assert f"round {dragged + 2} of {moments.HORIZON}" in said(opened, "igp_ucb")


def test_a_click_or_a_touch_pulls_that_arm(opened):
    chart, share = of("gp_ucb", ".panes .chart')"), 0.8
    before, at = round_of(opened, "gp_ucb"), place(opened, chart, share)
    if opened.ask("innerWidth") < 600:
        opened.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=[at])
        opened.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
    else:
        mouse(opened, "mousePressed", at)
        mouse(opened, "mouseReleased", at)
    settled(opened)
    assert round_of(opened, "gp_ucb") == before + 1
    last = opened.ask(f"+{chart}.querySelector('circle[fill=\"#fff\"]').getAttribute('cx')")
    assert abs(last - share * opened.ask(f"{chart}.clientWidth")) < 4


def test_an_arm_is_pulled_without_a_mouse(opened):
    before = round_of(opened, "gp_ucb")
    opened.ask(f"{button('gp_ucb', 'Pull x')}.click()")
    assert round_of(opened, "gp_ucb") == before + 1
    assert opened.ask(f"{button('gp_ucb', 'Pull x')}.tabIndex") == 0


def test_another_policy_and_another_problem_change_what_is_seen(opened):
    box, seen = of("gp_ucb", "select')"), [said(opened, "gp_ucb")]
    names = opened.ask(f"[...{box}.options].map(o => o.value)")
    assert names == list(POLICIES)
    for name in names[1:]:
        opened.ask(f"{box}.value = '{name}', {box}.dispatchEvent(new Event('change'))")
        seen.append(said(opened, "gp_ucb"))
    assert len({tuple(its) for its in seen}) >= len(names) - 1  # without margin PI does what mean only does
    assert "which promises nothing" in " ".join(seen[-1])
    kernel = of("gp_ucb", "details select')")
    opened.ask(f"{kernel}.value = 'Matérn 3/2', {kernel}.dispatchEvent(new Event('change'))")
    opened.ask(f"{button('gp_ucb', 'Draw f anew')}.click()")
    assert said(opened, "gp_ucb") not in seen


def test_a_wrong_lengthscale_breaks_both_bands(opened):
    """What scene 1 asks to try."""
    slider = "document.querySelectorAll('#scene-gp_ucb details input')[2]"  # true and assumed lengthscale, noise
    assert "lengthscale" in opened.ask(f"{slider}.parentNode.textContent")
    opened.ask(f"{slider}.value = 0.3, {slider}.dispatchEvent(new Event('input'))")
    held = opened.ask("(document.querySelector('#scene-gp_ucb').textContent.match(/held f in \\d+/g) || []).join()")
    shares = [int(its.split()[-1]) / live.read("gp_ucb")["moments"][0]["t"] for its in held.split(",")]
    assert len(shares) == 2 and np.all(np.array(shares) < 1)


def test_fifty_draws_are_counted(opened):
    opened.ask(f"{button('gp_ucb', 'Play 50 fresh draws')}.click()")
    for _ in range(100):
        opened.ask("new Promise(done => setTimeout(done, 300))")
        told = next((its for its in said(opened, "gp_ucb") if "draws" in its), "")
        if "of 50 draws" in told:
            break
    less = int(told.split(" in ")[1].split()[0])
    assert "of 50 draws" in told and less > 45


def test_where_scripts_are_off_a_still_picture_stands_with_a_caption(browser, page):
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.open(page, WIDTHS[0])
        text = browser.call("DOM.getDocument", depth=-1)["root"]
        shown = str(text).count("'FIGCAPTION'")
    finally:
        browser.call("Emulation.setScriptExecutionDisabled", value=False)
    assert shown == len(try_it.scenes(NOTEBOOKS)) and browser.complaints == []
