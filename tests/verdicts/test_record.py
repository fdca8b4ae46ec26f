"""What a notebook leaves: written whole, judged by its rules, said truthfully."""

import io

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from IPython.core.interactiveshell import InteractiveShell
from traces import trace_of

from kbrepro.regret import Estimate, exact
from kbrepro.verdicts import record, scorecard
from kbrepro.verdicts.record import Record

RULES = """
interpretations: {margin: [0.1, 0.0]}
claims:
  - {id: 0-A, where: Fig. 0, kind: experiment, says: It is larger | much., finds: "By {a}.",
     quote: It is., parts: {a: {is: difference, rule: "> 0", scale: 1.0, curve: [gap]}}}
  - {id: 0-B, where: Fig. 0, kind: theorem, says: It grows., finds: "As {a}.", needs: {horizon: 1000},
     quote: It grows., parts: {a: {is: exponent, rule: "< 1"}}}
"""


SHORT = "Too short to judge: 1 finding; see the [full-scale notebook](../results/paper/00_small/notebook.ipynb)."


@pytest.fixture
def root(tmp_path, monkeypatch):
    (tmp_path / "kbrepro").mkdir()
    (tmp_path / "notebooks" / "claims").mkdir(parents=True)
    (tmp_path / "notebooks" / "claims" / "00_small.yaml").write_text(RULES, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def shown(monkeypatch):
    """Everything that is displayed, as Markdown."""
    texts = []
    monkeypatch.setattr(record, "display", lambda markdown, **_: texts.append(markdown.data))
    return texts


def run(profile, folder=True, **has):
    return Record("00_small", f"results/{profile}/00_small" if folder else "", has=has)


@pytest.fixture
def kept(root):
    """What the quick run has left so far."""
    return lambda: scorecard.read_run(root / "results/quick/00_small")


def test_verdicts_are_written_in_the_order_of_the_rules(kept, shown):
    mine = run("quick", horizon=2000)
    mine.judge("0-B", a=exact(0.5))
    mine.judge("0-A", "a note", a=Estimate(1.0, 0.5, 2.0))
    assert [(r["id"], r["verdict"]) for r in kept()["claims"]] == [("0-A", "reproduced"), ("0-B", "no violation found")]
    assert kept()["rules"] == mine.rules.digest
    mine.finish()


def test_a_claim_that_needs_more_is_not_evaluated(kept, shown):
    mine = run("quick", horizon=500)
    mine.judge("0-B", a=exact(0.5))
    (only,) = kept()["claims"]
    assert (only["verdict"], only["note"]) == ("not evaluated", "needs horizon: at least 1000, has 500")
    with pytest.raises(ValueError, match="00_small: claim 0-A was not judged"):
        mine.finish()


def test_without_a_folder_nothing_is_written(root, shown):
    mine = run("quick", folder=False)
    mine.judge("0-A", a=exact(1.0))
    mine.figure(plt.figure(), "none")
    mine.expect(True, "So it is.")
    assert sorted(p.name for p in root.iterdir()) == ["kbrepro", "notebooks"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda r: r.judge("0-Z", a=exact(1)), "claim of 00_small = '0-Z' is not allowed: .* one of '0-A', '0-B'"),
        (lambda r: r.play("0-B", [({"margin": 0.1}, exact(1))]), "claim 0-B: no part has a `curve`"),
        (lambda r: r.play("0-A", [({"days": 1}, exact(1))]), "choice of 0-A = 'days' is not .* one of 'margin'"),
        (lambda r: r.explain(["0-Z"], True, "", "It is new."), "claim of 00_small = '0-Z'"),
        (lambda r: r.finding(["0-Z"], True, "It is new."), "claim of 00_small = '0-Z'"),
        (lambda r: r.show("0-A"), "claim 0-A was not judged"),
    ],
)
def test_what_cannot_be_is_refused_by_name(root, shown, call, message):
    with pytest.raises(ValueError, match=message):
        call(run("quick"))


def test_interpretations_are_kept_with_their_claim(kept, shown):
    mine = run("quick")
    mine.judge("0-A", a=exact(1.0))
    table = mine.play("0-A", [({"margin": 0.1}, exact(1.0)), ({"margin": 0.0}, exact(-1.0))])
    told = {"part": "a", "holds": 1, "fails": 1, "of": 2, "matters_most": "margin", "flips": {"margin": 1.0}}
    (its,) = kept()["claims"]
    assert its["interpretations"] == told | {"decides": "the margin alone decides"}
    assert (its["verdict"], its["depends_on"]) == ("depends", "margin")
    assert its["mark"] == "◑ **depends** on the margin (holds 1, fails 1 of 2; the margin alone decides)"
    assert len(table) == 2 and "interpretations_0-A" in kept()["tables"]


def test_a_table_that_was_shown_follows_the_interpretations(root, monkeypatch):
    """Else a notebook has two verdicts: that of its tables, and that of its totals."""
    seen, mine = {}, run("paper")
    monkeypatch.setattr(
        record, "display", lambda markdown, display_id, update=False, **_: seen.update({(display_id, update): markdown})
    )
    mine.judge("0-A", a=exact(1.0))
    mine.judge("0-B", a=exact(0.5))
    mine.show("0-A")
    mine.show("0-B")
    mine.play("0-A", [({"margin": 0.1}, exact(1.0)), ({"margin": 0.0}, exact(-1.0))])
    assert [*seen] == [("claims 0-A", False), ("claims 0-B", False), ("claims 0-A", True)]
    assert "● **reproduced**" in seen["claims 0-A", False].data and "◑ **depends**" in seen["claims 0-A", True].data


def test_what_explains_a_claim_is_the_reason_that_pages_give(kept, shown):
    mine = run("quick", horizon=2000)
    mine.judge("0-A", a=exact(-1.0))
    mine.judge("0-B", a=exact(2.0))
    mine.explain(["0-A"], 1 > 2, "Small (0-A)", "It is round.")
    mine.explain(["0-A", "0-B"], 1 < 2, "Small (0-A, 0-B)", "It is flat.", "Else nothing.")
    mine.explain(["0-B"], 1 < 2, "", "It is old.")
    fold = "<details><summary><b>{}.</b></summary>\n\n{}\n\n</details>"
    assert shown == [
        fold.format("Small (0-A, 0-B)", "It is flat. Else nothing."),
        fold.format("More of 0-B", "It is old."),
    ]
    assert [r["reason"] for r in kept()["claims"]] == ["It is flat.", "It is flat."]  # the first that holds


def test_an_answer_is_checked_and_kept_with_its_claims(kept, shown):
    mine = run("quick", horizon=2000)
    mine.finding(["0-A", "0-B"], np.bool_(True), "Small is round.")
    mine.finding(["0-B"], 1 > 2, "Small is flat.")
    assert shown == ["Small is round."]
    assert [(e["holds"], e["answers"]) for e in kept()["expected"]] == [(True, ["0-A", "0-B"]), (False, ["0-B"])]


def test_sentences_that_a_short_run_cannot_support_are_one_line_at_the_end_of_a_cell(root, kept, shown, monkeypatch):
    """A number that is none (nan) is never shown, whatever the condition says."""
    shell = InteractiveShell.instance()
    monkeypatch.setattr(record, "get_ipython", lambda: shell)
    mine = run("quick", horizon=2000)
    code = "mine.finding(['0-A'], False, 'Flat.')\nmine.explain(['0-A'], False, 'Small', 'It is round.')"
    shell.user_ns["mine"] = mine
    shell.run_cell(code + "\nmine.expect(True, 'Small is nan% larger.')\nmine.expect(True, 'Small is round.')")
    assert shown == ["Small is round.", SHORT.replace("1 finding", "3 findings")]
    shell.run_cell("mine.expect(False, 'Small is old.')")
    shell.run_cell("1 + 1")
    assert shown[2:] == [SHORT]
    assert [e["holds"] for e in kept()["expected"]] == [False, False, False, True, False]
    shell.events.unregister("post_run_cell", mine._say_short)


def full_scale(root):
    mine = run("paper", horizon=2000)
    mine.judge("0-A", a=exact(-3.0))
    mine.judge("0-B", a=exact(0.5))
    return mine


def test_a_quick_run_shows_the_full_scale_verdict_beside_its_own(root, shown, monkeypatch):
    run_, told = run("quick"), []
    run_.judge("0-A", a=exact(1.0))
    with monkeypatch.context() as patch:
        patch.setattr(record, "display", lambda markdown, metadata, **_: told.extend([markdown.data, metadata]))
        run_.show("0-A")
    assert "no run is here" in told[0] and told[1] == {"claims": ["0-A"]}
    full_scale(root)
    run_.show("0-A")
    assert "● **reproduced**" in shown[-1] and "○ **not reproduced**: By -3." in shown[-1]
    assert "It is larger \\| much." in shown[-1] and "“It is.” (Fig. 0)" in shown[-1]
    full_scale(root).show("0-B")
    assert "at full scale" not in shown[-1] and "0-B" in shown[-1]


@pytest.mark.parametrize(
    ("profile", "folder", "words", "data"),
    [
        ("quick", False, "as it was opened", []),
        ("quick", True, "the quick run", ["temperature"]),
        ("paper", True, "the full-scale run, whose numbers are the ones to quote", []),
        ("custom/12", True, "settings of your own", []),
    ],
)
def test_the_banner_says_which_run_this_is_and_on_what_data(root, shown, profile, folder, words, data):
    run(profile, folder, data=data).banner()
    assert words in shown[-1] and ("full-scale run](" in shown[-1]) == (profile != "paper")
    assert ("real sensor data (temperature)" if data else "SIMULATED SUBSTITUTE") in shown[-1]


def test_at_a_glance_is_the_full_scale_runs(root, shown):
    run("quick").at_a_glance()
    assert "No full-scale run" in shown[-1]
    full_scale(root)
    full_scale(root).finding(["0-A"], True, "It is small.")
    run("quick").at_a_glance()
    head, answer, totals, _, _, _, _ = shown[-1].split("\n\n")
    assert (head, answer) == ("**At full scale:**", "- It is small. (0-A)")
    assert totals == "1 of 2 claims of the paper stands (no violation found), 1 fails (0-A)."


def test_an_answer_has_at_most_two_numbers(root, shown):
    mine = run("quick")
    mine.finding(["0-A"], True, "In 2-A GP-UCB/5 has 74 % less regret for d = 3 in 3.5 of all cases.")
    with pytest.raises(ValueError, match=r"sentence has the numbers 1, 2, 3.5: an answer must have at most two"):
        mine.finding(["0-A"], True, "It is 1 or 2 or 3.5.")


def test_figures_tables_and_regrets_are_written_whole(root, kept, shown):
    mine = run("quick")
    mine.figure(plt.figure(), "empty")
    regret = np.random.default_rng(1).random((3, 500))
    mine.traces({"EI": trace_of(regret)}, "fig")
    mine.table(pd.DataFrame({"s": [1.0]}), "times", kind="seconds")
    folder = root / "results" / "quick" / "00_small"
    assert {p.name for p in (folder / "figures").iterdir()} == {"empty.png", "empty.svg"}
    finals = pd.read_csv(folder / "tables" / "fig_average_regret_per_trial.csv")
    assert [f"{x:.6g}" for x in finals["EI"]] == [f"{x:.6g}" for x in regret.mean(axis=1)]
    assert kept()["figures"] == {"empty": {"title": "", "curves": False, "tables": ["empty"]}}
    kinds = {"fig_average_regret_per_trial": "numbers", "fig_average_regret_curves": "numbers", "times": "seconds"}
    assert {name: its["kind"] for name, its in kept()["tables"].items()} == kinds
    plt.close("all")


@pytest.mark.parametrize("folder", [True, False])
def test_a_notebook_shows_the_picture_that_is_written(root, kept, shown, monkeypatch, folder):
    shell = InteractiveShell()
    monkeypatch.setattr(record, "get_ipython", lambda: shell)
    mine = run("quick", folder)
    figure, ax = plt.subplots(figsize=(3.0, 2.0))
    ax.plot([1, 2, 3], color="red", label="slow")
    figure.suptitle("It\nrises")
    mine.figure(figure, "curve")
    assert figure.get_layout_engine() is None  # placed once
    png = shell.display_formatter.formatters["image/png"]
    shown_png, metadata = png(figure)
    assert metadata == {"figure": "curve"}
    picture = plt.imread(io.BytesIO(shown_png))
    assert picture.shape[:2] == (200, 300)
    figure.savefig(again := io.BytesIO(), dpi=100, facecolor="white")
    again.seek(0)
    close = np.abs(picture[..., :3] - plt.imread(again)[..., :3])
    assert close.mean() < 0.02 < np.ptp(picture[..., 1])
    other = plt.figure(figsize=(1.0, 1.0))
    other.add_subplot()
    assert isinstance(png(other), bytes) and png(other) != shown_png
    if folder:
        written = root / "results" / "quick" / "00_small" / "figures" / "curve"
        assert plt.imread(written.with_suffix(".png")).shape[:2] == (400, 600)
        assert kept()["figures"]["curve"] == {"title": "It rises", "curves": True, "tables": ["curve"]}
        assert "<title>It rises</title>" in written.with_suffix(".svg").read_text()
        assert written.with_suffix(".csv").read_text() == "panel,curve,x,y\n1,slow,0,1\n1,slow,1,2\n1,slow,2,3\n"
    plt.close("all")


def test_curves_read_off_the_papers_plot_are_drawn_beside_ours(root, kept, shown):
    """Made up: we have seen no plot of a paper."""
    (root / "data" / "printed").mkdir(parents=True)
    path = root / "data" / "printed" / "curve.csv"
    path.write_text("panel,curve,x,y\n1,slow,0,4\n1,slow,2,5\n", encoding="utf-8")
    for name, lines in (("other", 1), ("curve", 2)):
        figure, ax = plt.subplots(figsize=(3.0, 2.0))
        ax.plot([1, 2, 3], label="slow")
        run("quick").figure(figure, name)
        assert len(ax.lines) == lines
    assert ax.lines[1].get_ydata().tolist() == [4, 5] and ax.texts[0].get_text() == "slow, printed"
    svg = (root / "results/quick/00_small/figures/curve.svg").read_text(encoding="utf-8")
    ours = (root / "results/quick/00_small/figures/curve.csv").read_text(encoding="utf-8")
    assert "slow, printed" in svg and "printed" not in ours
    for wrong, message in (("panel,curve,x\n1,slow,0\n", "columns y"), ("panel,curve,x,y\n7,slow,0,4\n", "panel 7")):
        path.write_text(wrong, encoding="utf-8")
        with pytest.raises(ValueError, match=message):
            run("quick").figure(plt.subplots()[0], "curve")


@pytest.mark.parametrize(
    ("results_dir", "full"),
    [
        ("out", False),
        ("results/paper", False),
        ("results/paper/mine", False),
        ("elsewhere/paper/00_small", False),
        ("results/paper/00_small/again", False),
        ("results/paper/00_small", True),
        ("results/paper/00_small.partial", True),
    ],
)
def test_only_the_folder_of_the_full_scale_run_is_called_so(root, shown, results_dir, full):
    Record("00_small", results_dir).banner()
    assert ("the full-scale run, whose numbers are" in shown[-1]) == full
    assert full or "a run with settings of your own" in shown[-1]
