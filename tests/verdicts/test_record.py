"""What a notebook leaves: written whole, judged by its rules, said truthfully."""

import io
import json

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import yaml
from IPython.core.interactiveshell import InteractiveShell
from traces import trace_of

from kbrepro.regret import Estimate, exact
from kbrepro.verdicts import record, scorecard
from kbrepro.verdicts.record import Record

RULES = {
    "interpretations": {"margin": [0.1, 0.0]},
    "claims": [
        {
            "id": "0-A",
            "where": "Fig. 0",
            "kind": "experiment",
            "headline": True,
            "says": "It is larger | much.",
            "parts": {"a": {"is": "difference", "rule": "> 0", "scale": 1.0, "curve": ["gap"]}},
            "finds": "By {a}.",
        },
        {
            "id": "0-B",
            "where": "Fig. 0",
            "kind": "theorem",
            "says": "It grows.",
            "parts": {"a": {"is": "exponent", "rule": "< 1"}},
            "finds": "As {a}.",
            "needs": {"horizon": 1000},
        },
    ],
}


@pytest.fixture
def root(tmp_path, monkeypatch):
    (tmp_path / "kbrepro").mkdir()
    (tmp_path / "notebooks" / "claims").mkdir(parents=True)
    (tmp_path / "notebooks" / "claims" / "00_small.yaml").write_text(yaml.safe_dump(RULES), encoding="utf-8")
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


def claims_of(root, profile):
    return json.loads((root / "results" / profile / "00_small" / "claims.json").read_text(encoding="utf-8"))


def test_verdicts_are_written_in_the_order_of_the_rules(root, shown):
    mine = run("quick", horizon=2000)
    mine.judge("0-B", a=exact(0.5))
    assert mine.judge("0-A", "a note", a=Estimate(1.0, 0.5, 2.0)) is None
    content = claims_of(root, "quick")
    assert [(r["id"], r["verdict"]) for r in content["claims"]] == [("0-A", "reproduced"), ("0-B", "reproduced")]
    assert content["rules"] == mine.rules.digest
    mine.finish()


def test_a_claim_that_needs_more_is_not_evaluated(root, shown):
    mine = run("quick", horizon=500)
    mine.judge("0-B", a=exact(0.5))
    (only,) = claims_of(root, "quick")["claims"]
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
        (lambda r: r.judge("0-Z", a=exact(1)), "00_small.yaml has no claim '0-Z'; it has 0-A, 0-B"),
        (lambda r: r.judge("0-A", b=exact(1)), "claim 0-A: 'b' is no part; parts: a"),
        (lambda r: r.judge("0-A"), "claim 0-A: part 'a' has no estimate"),
        (lambda r: r.judge("0-A", a=exact(float("nan"))), "must hold no NaN"),
        (lambda r: r.play("0-B", [({"margin": 0.1}, exact(1))]), "claim 0-B: no part has a `curve`"),
        (lambda r: r.play("0-A", [({"days": 1}, exact(1))]), "'days' is no choice of the rules; allowed: margin"),
        (lambda r: r.show("0-A"), "claim 0-A was not judged"),
    ],
)
def test_what_cannot_be_is_refused_by_name(root, shown, call, message):
    with pytest.raises(ValueError, match=message):
        call(run("quick"))


def test_interpretations_are_kept_with_their_claim(root, shown):
    mine = run("quick")
    mine.judge("0-A", a=exact(1.0))
    table = mine.play("0-A", [({"margin": 0.1}, exact(1.0)), ({"margin": 0.0}, exact(-1.0))])
    kept = claims_of(root, "quick")["claims"][0]["interpretations"]
    assert kept == {
        "part": "a", "holds": 1, "fails": 1, "of": 2, "decides": "the margin alone decides", "flips": {"margin": 1.0}
    }  # fmt: skip
    assert len(table) == 2 and (root / "results/quick/00_small/tables/interpretations_0-A.csv").is_file()


def test_a_sentence_that_is_not_true_is_marked_and_told(root, shown):
    mine = run("quick")
    mine.expect(np.bool_(True), "It rises.")
    mine.expect(1 > 2, "It falls.")
    assert shown[0] == "It rises." and "Not so in this run" in shown[1] and "<del>It falls.</del>" in shown[1]
    assert [e["holds"] for e in claims_of(root, "quick")["expected"]] == [True, False]


def test_what_explains_a_claim_is_the_reason_that_pages_give(root, shown):
    mine = run("quick", horizon=2000)
    mine.judge("0-A", a=exact(-1.0))
    mine.judge("0-B", a=exact(2.0))
    mine.explain(["0-A"], 1 > 2, "Small (0-A)", "It is round.")
    mine.explain(["0-A", "0-B"], 1 < 2, "Small (0-A, 0-B)", "It is flat.", "Else nothing.")
    mine.explain(["0-B"], 1 < 2, "", "It is old.")
    assert "<del>**Small (0-A).** It is round.</del>" in shown[0]
    assert shown[1:] == ["**Small (0-A, 0-B).** It is flat. Else nothing.", "It is old."]
    reasons = [r["reason"] for r in scorecard.read_run(root / "results/quick/00_small")["claims"]]
    assert reasons == ["It is flat.", "It is flat."]  # the first that holds
    with pytest.raises(ValueError, match="no claim '0-Z'"):
        mine.explain(["0-Z"], True, "", "It is new.")


def test_an_answer_is_checked_and_kept_with_its_claims(root, shown):
    mine = run("quick", horizon=2000)
    mine.finding(["0-A", "0-B"], 1 < 2, "Small is round.")
    mine.finding(["0-B"], 1 > 2, "Small is flat.")
    assert shown == ["Small is round.", "**Not so in this run:** <del>Small is flat.</del>"]
    kept = scorecard.read_run(root / "results/quick/00_small")["expected"]
    assert [(e["holds"], e["answers"]) for e in kept] == [(True, ["0-A", "0-B"]), (False, ["0-B"])]
    with pytest.raises(ValueError, match="no claim '0-Z'"):
        mine.finding(["0-Z"], True, "It is new.")


def full_scale(root):
    mine = run("paper", horizon=2000)
    mine.judge("0-A", a=exact(-3.0))
    mine.judge("0-B", a=exact(0.5))
    return mine


def test_a_quick_run_shows_the_full_scale_verdict_beside_its_own(root, shown, monkeypatch):
    run_, told = run("quick"), []
    run_.judge("0-A", a=exact(1.0))
    with monkeypatch.context() as patch:
        patch.setattr(record, "display", lambda markdown, metadata: told.extend([markdown.data, metadata]))
        run_.show("0-A")
    assert "no run is here" in told[0] and told[1] == {"claims": ["0-A"]}
    full_scale(root)
    run_.show("0-A")
    assert "● **reproduced**" in shown[-1] and "○ **not reproduced**: By -3." in shown[-1]
    assert "It is larger \\| much." in shown[-1]


def test_a_full_scale_run_shows_its_own_verdicts_alone(root, shown):
    full_scale(root).show()
    assert "at full scale" not in shown[-1] and "0-B" in shown[-1]


@pytest.mark.parametrize(
    ("profile", "folder", "words"),
    [
        ("quick", False, "as it was opened"),
        ("quick", True, "the quick run"),
        ("paper", True, "the full-scale run, whose numbers are the ones to quote"),
        ("custom/12", True, "settings of your own"),
    ],
)
def test_the_banner_says_which_run_this_is(root, shown, profile, folder, words):
    run(profile, folder, data=[]).banner()
    assert words in shown[-1] and "SIMULATED SUBSTITUTE" in shown[-1]
    assert ("full-scale run](" in shown[-1]) == (profile != "paper")


def test_the_banner_names_real_data(root, shown):
    run("quick", data=["temperature"]).banner()
    assert "real sensor data (temperature)" in shown[-1] and "SIMULATED" not in shown[-1]


def test_at_a_glance_is_the_full_scale_runs(root, shown):
    run("quick").at_a_glance()
    assert "No full-scale run" in shown[-1]
    full_scale(root)
    run("quick").at_a_glance()
    assert "**Theorems** (1): 1 reproduced." in shown[-1]
    assert shown[-1].endswith("- **Headline** (0-A, not reproduced): By -3.")  # and not once more


def test_figures_tables_and_regrets_are_written_whole(root, shown):
    mine = run("quick")
    figure = plt.figure()
    mine.figure(figure, "empty")
    regret = np.random.default_rng(1).random((3, 500))
    mine.traces({"EI": trace_of(regret)}, "fig")
    mine.table(pd.DataFrame({"s": [1.0]}), "times", kind="seconds")
    folder = root / "results" / "quick" / "00_small"
    assert {p.name for p in (folder / "figures").iterdir()} == {"empty.png", "empty.svg"}
    finals = pd.read_csv(folder / "tables" / "fig_average_regret_per_trial.csv")
    assert [f"{x:.6g}" for x in finals["EI"]] == [f"{x:.6g}" for x in regret.mean(axis=1)]
    manifest = scorecard.read_run(folder)
    assert manifest["figures"] == {"empty": {"title": "", "curves": False, "tables": ["empty"]}}
    kinds = {"fig_average_regret_per_trial": "numbers", "fig_average_regret_curves": "numbers", "times": "seconds"}
    assert {name: its["kind"] for name, its in manifest["tables"].items()} == kinds
    plt.close(figure)


@pytest.mark.parametrize("folder", [True, False])
def test_a_notebook_shows_the_picture_that_is_written(root, shown, monkeypatch, folder):
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
        kept = plt.imread(root / "results" / "quick" / "00_small" / "figures" / "curve.png")
        assert kept.shape[:2] == (400, 600)
        written = root / "results" / "quick" / "00_small" / "figures" / "curve"
        its = scorecard.read_run(root / "results" / "quick" / "00_small")["figures"]["curve"]
        assert its == {"title": "It rises", "curves": True, "tables": ["curve"]}
        assert "<title>It rises</title>" in written.with_suffix(".svg").read_text()
        assert written.with_suffix(".csv").read_text() == "panel,curve,x,y\n1,slow,0,1\n1,slow,1,2\n1,slow,2,3\n"
    plt.close("all")


def test_the_scorecard_reads_what_the_record_wrote(root, shown):
    full_scale(root)
    text = scorecard.scorecard(root)
    assert "| 0-A | It is larger \\| much. | By -3. | difference: > 0 | ○ **not reproduced** |  |" in text
    assert "1 reproduced, 1 not reproduced" in text
