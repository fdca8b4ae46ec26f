"""The scorecard: totals by kind, what is outside them, verdicts on halves."""

import json

import pytest
import yaml

from kbrepro.regret import Estimate, exact
from kbrepro.verdicts import claims, scorecard

PARTS = {"a": {"is": "difference", "rule": "> 0", "scale": 1.0}}
ENTRY = {"where": "Fig. 1", "kind": "experiment", "says": "It is larger.", "parts": PARTS, "finds": "By {a}."}
ENTRY |= {"quote": "It is larger."}
CHANGE = {"seen": "0.1.0", "was": "low > 1", "then": "partly", "why": "too hard", "direction": "easier"}
CHANGE |= {"on_old_numbers": "reproduced"}
MORE = {
    "1-A": {},
    "1-B": {"kind": "theorem"},
    "1-C": {"sanity_check": "could hardly fail", "changes": [CHANGE | {"direction": "leaves"}]},
    "1-D": {"substitute_data": "other data", "changes": [CHANGE | {"then": "substitute data"}]},
    "1-E": {"kind": "own question"},
    "1-F": {"changes": [CHANGE]},
}


@pytest.fixture
def root(tmp_path):
    rules = tmp_path / "01_new.yaml"
    rules.write_text(yaml.safe_dump({"claims": [ENTRY | {"id": name} | more for name, more in MORE.items()]}))
    loaded = claims.load(rules)
    numbers = [Estimate(1, 0.5, 2), Estimate(1, -1, 2), exact(1), exact(1), exact(-1), Estimate(-1, -2, -0.5)]
    records = [claims.judged(c, {"a": e}) for c, e in zip(loaded.claims.values(), numbers, strict=True)]
    records[0]["interpretations"] = {"part": "a", "holds": 3, "fails": 0, "of": 4, "decides": "", "flips": {"x": 0.5}}
    write(tmp_path, "paper", "01_new", {"rules": loaded.digest, "expected": [], "claims": records})
    write(tmp_path, "paper", "02_two.partial", {"rules": "", "expected": [], "claims": records})
    return tmp_path


def write(root, profile, notebook, content):
    folder = root / "results" / profile / notebook
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "claims.json").write_text(json.dumps(content), encoding="utf-8")


def test_totals_count_what_counts_and_name_what_is_outside(root):
    new = scorecard.read(root / "results" / "paper")["01_new"]["claims"]
    assert scorecard.summary(new) == (
        "1 of 3 claims of the paper stands (reproduced), 1 fails (1-F), 1 is open (undecided); "
        "not counted: 1 own question, 1 sanity check, 1 on substitute data"
    )
    head, _, row = scorecard.matrix({"01_new": {"claims": new}}).splitlines()
    told = ["● **reproduced**", "○ **not reproduced**", "theorems: ◌ **undecided**", *scorecard.ASIDE]
    assert head == f"| experiments | {' | '.join(told)} |"
    assert row == "| 01_new | 1 | 1 | 1 | 1 | 1 | 1 |"


def test_words_of_the_paper_that_two_claims_in_a_row_share_stand_once_a_table(root):
    a, b, _, _, e, _ = scorecard.read(root / "results" / "paper")["01_new"]["claims"]
    assert a["words"] == b["words"]
    for its, times in (((a, b, a), 1), ((a, e | {"words": "(Fig. 2)"}, b), 2)):
        assert scorecard.verdict_table(its, beside=False).count("“It is larger.”") == times
    assert "| the same |" in scorecard.verdict_table((a, b), beside=False)


def test_details_are_folded_and_choices_ranked(root):
    text = scorecard.scorecard(root)
    assert "## 02_two" not in text  # still being written
    for told in ("<details>", "A sanity check: could hardly fail.", "| x | 1 of 1 | 50% |"):
        assert told in text


COUNTS = {"part": "a", "holds": 1, "fails": 2, "of": 4, "decides": "", "flips": {"x": 0.5}}


@pytest.mark.parametrize(
    ("parts", "shown"),
    [
        ({}, " (holds 1, fails 2, open 1 of 4)"),
        ({"b": {"interpretation": "another"}}, " (holds 1, fails 2, open 1 of 4)"),
        ({"b": {"own": True}, "c": {"control": True}}, " (holds 1, fails 2, open 1 of 4)"),
        ({"b": {}}, " (one part holds 1, fails 2, open 1 of 4)"),
        ({"a": {"own": True}, "b": {}}, ""),
    ],
)
def test_only_what_is_judged_is_counted_at_the_mark(parts, shown):
    """What a part of our own does in every interpretation stands in the details, and ranks no choice."""
    its = {name: PARTS["a"] | parts.get(name, {}) for name in {"a": {}} | parts}
    claim = claims.Claim(**ENTRY | {"id": "1-A", "parts": {n: claims._read_part(n, part) for n, part in its.items()}})
    record = claims.judged(claim, dict.fromkeys(its, exact(1))) | {"interpretations": COUNTS}
    (row,) = scorecard.rows([record])
    assert row["mark"] == f"● **reproduced**{shown}"
    assert "Part a in every interpretation: holds 1, fails 2, open 1 of 4" in row["evidence"]
    assert ("| x | 1 of 1 | 50% |" in scorecard.ranked_choices({"01_new": {"claims": [record]}})) == bool(shown)


def test_changes_end_the_scorecard_with_verdicts_before_and_now(root):
    section = scorecard.scorecard(root).partition("Rules that changed after a full-scale run</summary>\n\n")[2]
    head, _, *rows = section.split("\n\n")[0].splitlines()
    assert head.endswith(f"| {' | '.join(scorecard.VERDICTS)} | outside the totals |")
    assert rows == ["| partly |  |  |  |  |  | 1 |  | 1 |", "| outside the totals |  |  |  |  |  |  |  | 1 |"]
    last = section.rstrip().splitlines()[-3]  # and the end of the fold
    assert last == "| 1-F | low > 1 | 0.1.0 | partly | too hard | easier | reproduced | not reproduced |"


def test_moves_are_counted_by_what_was_seen_and_chance_by_parts_with_an_error(root):
    runs = scorecard.read(root / "results" / "paper")
    assert scorecard.moved(runs, "0.1.0") == (
        "After results of 0.1.0 were seen, 1 of the rules that count were changed. By that 0 verdicts moved up and 1 "
        "down."
    )
    (theorem,) = [r for r in runs["01_new"]["claims"] if r["id"] == "1-B"]
    theorem |= {"verdict": "no violation found", "changes": [CHANGE | {"then": "reproduced"}]}
    assert "0 verdicts moved up and 1 down" in scorecard.moved(runs, "0.1.0")  # another word for the same
    assert "3 of the 3 parts that count have a sampling error" in scorecard.scorecard(root)
    assert "at most 0.1 of them" in scorecard.scorecard(root)


def row_of_a(text):
    (found,) = [line for line in text.splitlines() if line.startswith("| 1-A | It is larger.")]
    return found


def test_verdicts_on_halves_stand_beside_those_on_all_trials(root):
    assert row_of_a(scorecard.scorecard(root)).endswith("</details> | ● **reproduced** (holds 3, open 1 of 4) |")
    run = scorecard.read(root / "results" / "paper")["01_new"]
    run["claims"][0]["halves"] = ["reproduced", "undecided"]
    write(root, "paper", "01_new", run)
    assert row_of_a(scorecard.scorecard(root)).count("On even trials reproduced, on odd trials undecided.") == 1


def test_every_table_has_as_many_cells_in_each_row(root):
    for block in scorecard.scorecard(root).split("\n\n"):
        rows = [line.replace("\\|", "") for line in block.splitlines() if line.startswith("|")]
        assert len({row.count("|") for row in rows}) <= 1


def test_another_run_shows_the_full_scale_verdict_beside_its_own(root):
    quick = scorecard.read(root / "results" / "paper")["01_new"]
    quick["claims"][0]["verdict"] = "undecided"
    write(root, "quick", "01_new", quick)
    row = row_of_a(scorecard.scorecard(root, root / "results" / "quick"))
    assert "◌ **undecided**" in row and row.endswith("● **reproduced** (holds 3, open 1 of 4): By 1. |")


def test_the_first_sentence_that_holds_is_the_reason_and_stands_in_the_fold(root):
    failed = scorecard.read(root / "results" / "paper")["01_new"]["claims"][5]
    told = [{"holds": False, "explains": ["1-F"], "why": "It is long."}, {"holds": True}]
    assert scorecard.rows([failed], told)[0]["reason"] == ""
    told += [{"holds": True, "explains": ["1-F"], "why": f"It is {how}."} for how in ("late", "old")]
    (row,) = scorecard.rows([failed | {"deciding": "partly with x"}], told)
    assert row["reason"] == "It is late." and "It is partly with x.<br>It is late.<br>" in row["evidence"]


def test_a_sentence_across_papers_stands_while_each_claim_has_its_verdict(root):
    runs = scorecard.read(root / "results" / "paper")
    rules = [{"sentence": "Use it.", "if": {"1-A": "reproduced", "1-F": "not reproduced"}}]
    rules += [{"sentence": "Shun it.", "if": {"1-A": "reproduced", "1-F": "reproduced"}}]
    assert scorecard.across(root, runs) == []
    (root / "docs").mkdir()
    (root / "docs" / "across.yaml").write_text(yaml.safe_dump(rules))
    assert scorecard.across(root, runs) == ["Use it. (1-A, 1-F)"]


def test_a_run_without_claims_is_empty(tmp_path):
    empty = {"rules": "", "expected": [], "claims": [], "figures": {}, "tables": {}, "facts": {}}
    assert scorecard.read_run(tmp_path) == empty
