"""What came out as text: every number of a record stands in its table and in its lines."""

import json
import re
from fractions import Fraction
from pathlib import Path

import jsonschema
import pandas as pd
import pytest

from kbrepro import papers
from kbrepro.claims import scorecard, words

ROOT = Path(__file__).parents[2]
RUNS = scorecard.read(ROOT / "results" / "paper")


def reading(value, choice="", name="", excluded="", source="text", how="redrawn", kept=100):
    probability = {"value": value, "low": value - 0.1, "high": value, "error": 0.0, "how": how}
    return {"choice": choice, "value": name, "probability": probability} | {
        "drawn": 25, "kept": kept, "source": source, "excluded_by": excluded, "caveat": "",
        "counts": bool(source and not excluded and kept >= 36),
    }  # fmt: skip


CLAIM = {
    "id": "9-A", "kind": "observation", "where": "Fig. 1", "quote": "A | B are alike.",
    "finding": "", "verdict": "comes out again", "uncertain": False, "not_played": [],
    "depends_on": ["width"], "agree": 2, "counted": 3,
    "effect": {"value": 1.25, "low": 1.1, "high": 1.4, "shows": "ratio"},
    "readings": [reading(0.96), reading(0.25, "width", "five"),
     reading(0.5, "width", "ten", "footnote 3: no"),
                 reading(0.96, "norm", "one")],
}  # fmt: skip
THEOREM = {
    "id": "9-T", "where": "Theorem 1", "statement": "R is at most T.", "corrected": "",
    "checked": "runs above T",
    "outcome": "no violation in 12 runs", "violations": 0, "runs": 12, "allowed": 0.0,
    "room": 0.034,
}  # fmt: skip
OWN = CLAIM | {
    "kind": "own question",
    "effect": None,
    "quote": "",
    "readings": CLAIM["readings"][:1],
    "agree": 1,
    "counted": 1,
}


RUN = {"claims": [], "theorems": [], "findings": [], "choices": [], "at_once": []}


def test_a_claim_is_one_row_in_words_with_our_number_second():
    head, rule, row = scorecard.tables([CLAIM]).splitlines()
    assert head == "| what the paper reports | our number | does it come out again? |"
    assert rule.count("---") == 3
    said, ours, verdict = row.strip("| ").split(" | ")
    assert said == '<a id="9-A"></a>**9-A** “A \\| B are alike.” (Fig. 1)'
    assert ours == "**1.2** (1.1 to 1.4): ratio<br><small>100 trials stored, 25 a rerun</small>"
    assert verdict == (
        "● **comes out again**, depends on width: 2 of 3 agree<br>main interpretation: 96 of 100"
        " reruns (86 to 96); width *five*: 25 of 100; width *ten*: 50 of 100 (does not count:"
        " footnote 3: no); 1 other interpretation: the same"
    )


def test_readings_alike_stand_together():
    margins = [reading(0.25, "margin", name) for name in (".03", ".01", "0")]
    row = scorecard.tables([CLAIM | {"readings": [reading(0.999), *margins]}])
    assert "over 99 of 100 reruns (90 to 100); margin *.03*, *.01* or *0*: 25 of 100" in row
    row = scorecard.tables([CLAIM | {"readings": [reading(1.0), reading(0.004, "margin", "0")]}])
    assert "main interpretation: 100 of 100 reruns" in row and "*0*: under 1 of 100" in row


def test_an_id_leads_to_its_cell():
    assert '<a id="9-A"></a>[9-A](../../notebooks/09_toy.ipynb#9-A) “' in scorecard.tables(
        [CLAIM], "09_toy"
    )


def test_sentences_of_one_finding_say_so_and_a_new_verdict_is_shown():
    """Records may have both, or neither."""
    row = scorecard.tables([CLAIM | {"finding": "alike", "verdict": "too few"}])
    assert "(Fig. 1; one finding: alike)" in row and "| ◇ **too few**" in row


def test_remarks_questions_and_theorems_have_tables_of_their_own():
    told = scorecard.tables([THEOREM, OWN, CLAIM | {"kind": "remark"}, CLAIM])
    heads = [line for line in told.splitlines() if line.endswith((" again? |", " outcome |"))]
    assert [head.split(" | ")[0] for head in heads] == [
        "| what the paper reports",
        "| what the paper argues or cites (not counted)",
        "| what we ask (not counted)",
        "| theorem",
    ]
    assert (
        scorecard.tables([THEOREM]).splitlines()[-1]
        == '| <a id="9-T"></a>**9-T** R is at most T. (Theorem 1) | runs above T | **no violation'
        " in 12 runs**<br>share of the bound: 0.034 |"
    )
    assert scorecard.tables([THEOREM | {"room": float("nan")}]).endswith("runs** |")


def test_a_terminal_gets_the_verdict_in_the_first_line_and_then_the_numbers():
    assert scorecard.lines(CLAIM) == [
        "9-A   ● comes out again, depends on width: 2 of 3 agree: “A | B are alike.” (Fig. 1)",
        "      main interpretation: 96 of 100 reruns (86 to 96)",
        "      width five: 25 of 100",
        "      width ten: 50 of 100 (does not count: footnote 3: no)",
        "      1 other interpretation: the same",
        "      1.2 (1.1 to 1.4): ratio",
        "      100 trials stored, 25 a rerun",
    ]
    (said, *_) = scorecard.lines(CLAIM | {"uncertain": True})
    assert said.startswith("9-A   ● comes out again (uncertain), depends on width")
    first, room, checked = scorecard.lines(THEOREM)
    assert first == "9-T   no violation in 12 runs: R is at most T. (Theorem 1)"
    assert (checked.strip(), room.strip()) == ("runs above T", "share of the bound: 0.034")


def test_what_is_uncertain_or_corrected_or_not_redrawn_or_no_sentence_is_said():
    (row,) = scorecard.tables([THEOREM | {"corrected": "R is at most 2 T"}]).splitlines()[2:]
    assert "R is at most T. (Theorem 1)<br>corrected: R is at most 2 T |" in row
    fixed = reading(1.0, how="nothing redrawn") | {"caveat": "other days"}
    other = reading(0.0, "width", "five", how="nothing redrawn")
    (row,) = scorecard.tables([CLAIM | {"readings": [fixed, other]}]).splitlines()[2:]
    assert "● **comes out again** *(not rerun)*, " in row
    assert "<br>main interpretation: holds; width *five*: does not hold |" in row
    assert "<small>played once, not rerun</small><br><small>other days</small> |" in row
    assert "a rerun<" not in row
    (row,) = scorecard.tables([CLAIM | {"quote": "Row of Table 1, d = 1: 3 min."}]).splitlines()[2:]
    assert "**9-A** Row of Table 1, d = 1: 3 min. (Fig. 1) |" in row


def test_of_two_choices_together_those_are_named_that_alone_turn_the_verdict():
    together = [
        reading(0.1, "width × norm", "five × one"),
        reading(0.1, "width × rule", "five × b"),
    ]
    record = CLAIM | {"readings": [reading(1.0), *together], "depends_on": ["width × norm"]}
    (row,) = scorecard.tables([record | {"not_played": ["a × b", "a × c"]}]).splitlines()[2:]
    assert "; width × norm *five × one*: 10 of 100; combinations not played: 2 |" in row


def test_why_an_interpretation_does_not_count_and_why_there_is_no_number():
    found, few = reading(0.1, "width", "five", source=""), reading(0.2, "width", "ten", kept=20)
    (row,) = scorecard.tables([CLAIM | {"readings": [reading(1.0), found, few]}]).splitlines()[2:]
    assert "width *five*: 10 of 100 (does not count: found by search);" in row
    assert "width *ten*: 20 of 100 (does not count: on 20 trials) |" in row
    other = CLAIM | {"verdict": "too few", "readings": [reading(1.0, excluded="Section 3")]}
    (row,) = scorecard.tables([other]).splitlines()[2:]
    assert "◇ **too few**: not played as the paper does (Section 3)<br>" in row
    always = CLAIM | {"depends_on": [], "agree": 3}
    assert "again**, under every interpretation<br>" in scorecard.tables([always])
    part = scorecard.tables([always | {"not_played": ["a × b"]}])
    assert "again**, under every interpretation played<br>" in part


VALUES = [
    {"choice": "width", "value": name, "main": name in ("one", "two"), "counts": name == "five"}
    | {"source": source, "excluded_by": no}
    for name, source, no in (
        ("one", "Section 2", ""),
        ("two", "", ""),
        ("five", "Fig. 3", ""),
        ("seven", "Fig. 5", ""),
        ("ten", "Fig. 4", "footnote 3: no"),
        ("six", "", ""),
    )
]


def test_the_choices_of_a_paper_stand_in_a_table_with_their_sources():
    _, table = scorecard.choices(VALUES)
    assert table.splitlines()[2] == (
        "| width | *one*: Section 2<br>*two* | *five*: Fig. 3 | *seven*: Fig. 5 (on few"
        " trials)<br>*ten*: footnote 3: no<br>*six*: found by search |"
    )
    assert scorecard.choices([]) == []


def test_totals_tell_sentences_findings_and_what_comes_out_at_once():
    names = "verdict", "depends_on", "agree", "counted", "uncertain", "not_played", "readings"
    finding = {name: CLAIM[name] for name in names}
    line = {"choice": "width", "value": "five", "holds": ["9-A"], "fails": ["9-B"], "mean": 1.25}
    line["excluded_by"] = ""
    run = {
        "claims": [CLAIM, CLAIM | {"id": "9-B"}],
        "findings": [finding | {"ids": ["9-A", "9-B"]}],
        "choices": VALUES,
        "at_once": [line | {"choice": "", "value": ""}, line | {"excluded_by": "a clause"}],
    }
    (sentences, findings, shared), (_, table, *values) = scorecard.summary(run)
    assert sentences.startswith("**Sentences: 2**. ● 2 come out again")
    assert findings.startswith("**Findings: 1** (") and "● 1 comes out again" in findings
    assert shared == "Judged together: 9-A + 9-B: comes out again."
    assert table.splitlines()[2:] == [
        "| main | 1 of 2 | 1.2 | 9-B |",
        "| five (width), excluded | 1 of 2 | 1.2 | 9-B |",
    ]
    assert values == scorecard.choices(VALUES) == scorecard.summary(run | {"at_once": []})[1]
    assert scorecard.summary({"claims": [OWN], "findings": [], "at_once": []}) == ([], [])


MAIN, OTHER, WIDE = reading(0.9975), reading(0.0025), {"value": 1.5, "shows": "ratio"}


@pytest.mark.parametrize(
    ("now", "told"),
    [
        (OWN | {"readings": [OTHER]}, ["9-A: 0.9975 to 0.0025"]),
        (OWN | {"readings": [reading(0.9975 + 1e-9)]}, []),
        (OWN | {"readings": [MAIN], "effect": WIDE}, ["9-A: 0.9975 to 0.9975 (effect 1.5)"]),
        (THEOREM | {"outcome": "false as printed"},
         ["9-T: no violation in 12 runs to false as printed"]),
        (OWN | {"readings": [OTHER], "id": "9-C"}, []),  # new
    ],
)  # fmt: skip
def test_what_moved_is_told(now, told):
    before = {"claims": [OWN | {"readings": [MAIN]}], "theorems": [THEOREM]}
    assert scorecard.moved([now], before) == told


def test_totals_count_observations_alone():
    few = CLAIM | {"verdict": "too few", "uncertain": True}
    always = CLAIM | {"agree": 3}
    fixed = CLAIM | {"verdict": "does not", "readings": [reading(0.0, how="nothing redrawn")]}
    fixed |= {"agree": 1, "counted": 1}  # no other interpretation
    assert scorecard.totals([CLAIM, always, OWN, few, fixed]) == (
        "● 2 come out again (1 under every interpretation), ○ 1 does not, ◌ 0 now and then, ◇ 1 too"
        " few; 1 of them uncertain, 1 not rerun"
    )


def test_another_rerun_is_said_of_what_nearly_all_or_no_reruns_support():
    verdicts = ["comes out again", "comes out again", "does not", "now and then", "does not"]
    claims = [
        CLAIM | {"id": f"9-{name}", "verdict": verdict}
        for name, verdict in zip("ABCDE", verdicts, strict=True)
    ]
    claims.append(OWN | {"id": "9-F"})
    held = {"9-A": True, "9-B": False, "9-C": True, "9-D": True, "9-F": True}  # 9-E cannot be said
    run = RUN | {"claims": claims, "rerun": [held], "findings": []}
    told = (
        "Played once more, with a seed fixed at the freeze: of {} sentences that at least 90 of 100"
        " reruns support, {} came out in it; of {} that at most 10 support, {}."
    ).format
    assert scorecard.played_again([run]) == told(2, 1, 1, 1)
    assert scorecard.played_again([run, RUN, run]) == told(4, 2, 2, 2)
    assert scorecard.played_again([RUN | {"claims": claims}]) == ""
    frozen = [{"edition": "1.0", "on": "2026-01-01", "why": "", "changed": []}]
    pages = scorecard.pages({"09_toy": run | {"edition": frozen}}, {"09_toy": "Toy, 2026"})
    assert pages["claims/09_toy.md"].count(told(2, 1, 1, 1)) == 1
    assert pages["README.md"].count(told(2, 1, 1, 1)) == 2  # at its head, too


def test_numbers_have_six_digits_and_do_not_turn_with_the_last_bits():
    now = {"a": [1 / 3, 2], "b": {"c": "text", "d": True, "e": 123456.7}, "n": [None, float("inf")]}
    told = {
        "a": [0.333333, 2],
        "b": {"c": "text", "d": True, "e": 123457.0},
        "n": [None, float("inf")],
    }
    assert scorecard.rounded(now) == scorecard.rounded(now, told) == told
    assert scorecard.rounded(now, {"a": [], "b": 7}) == scorecard.rounded(now, "other") == told
    edge = 0.1234565
    for noise in (-1e-9, 1e-9):
        for before in (0.123456, 0.123457):
            assert scorecard.rounded([edge + noise], [before]) == [before]
    assert (
        scorecard.rounded(0.1234568, 0.123456) == 0.123457
        and scorecard.rounded(0.1234562, 0.123457) == 0.123456
    )
    assert scorecard.rounded(edge, 0.123458) in (0.123456, 0.123457)


@pytest.mark.parametrize("run", RUNS.values(), ids=[*RUNS])
def test_what_is_committed_is_what_the_schema_says(run):
    schema = json.loads((ROOT / "docs" / "claims.schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(run, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(run | {"claims": [CLAIM | {"verdict": "reproduced"}]}, schema)


def test_an_asterisk_of_a_formula_stands_for_itself():
    """In a table and in a terminal."""
    record = THEOREM | {"statement": "t > T_*, for any T_*", "corrected": "t > 2 T_*"}
    (row,) = scorecard.tables([record]).splitlines()[2:]
    assert r"**9-T** t > T_\*, for any T_\* (Theorem 1)<br>corrected: t > 2 T_\* |" in row
    first, *_ = scorecard.lines(record)
    assert first.endswith(": t > T_*, for any T_* (Theorem 1); corrected: t > 2 T_*")


def test_small_print_of_three_rows_stands_once_above_them():
    caveat = "one trial a chain, where the paper has ten trials"
    rows = [CLAIM | {"id": f"9-{name}"} for name in "ABC"]
    noted = [row | {"readings": [reading(0.96) | {"caveat": caveat}]} for row in rows]
    pages = scorecard.pages({"09_toy": {**RUN, "claims": noted}}, {"09_toy": "Toy, 2026"})
    page = pages["claims/09_toy.md"]
    assert page.count(caveat) == 1 and f"\n*Note a*: {caveat}.\n" in page
    assert page.count("25 a rerun</small><br><small>note a</small>") == 3
    pages = scorecard.pages({"09_toy": {**RUN, "claims": noted[1:]}}, {"09_toy": "Toy, 2026"})
    assert pages["claims/09_toy.md"].count(caveat) == 2


def test_the_index_leads_to_every_row_of_the_pages():
    quote = f"[...] {'many words ' * 20}"
    records = [CLAIM | {"quote": quote}, OWN | {"id": "9-B", "quote": "Is it?"}]
    pages = scorecard.pages(
        {"09_toy": {**RUN, "claims": records, "theorems": [THEOREM]}}, {"09_toy": "Toy, 2026"}
    )
    assert [*pages] == ["claims/09_toy.md", "README.md"]
    quoted, asked, proved = pages["README.md"].splitlines()[-3:]
    assert quoted.startswith(r'| <a id="9-A"></a>[“\[...\] many words many')
    assert "words …”](claims/09_toy.md#9-A) | 96 of 100 | ● **comes out again**, depends" in quoted
    assert asked.startswith('| <a id="9-B"></a>*own question*: [Is it?](claims/09_toy.md#9-B) |')
    assert proved.endswith("*theorem*: [R is at most T.](claims/09_toy.md#9-T) |  | **no violation"
                           " in 12 runs** |")  # fmt: skip
    assert "## [Toy, 2026](claims/09_toy.md)" in pages["README.md"]


def test_the_pages_of_every_claim_are_those_of_the_committed_claims():
    """`kbrepro report` renews them."""
    titles = {paper.notebook: paper.title for paper in papers.found().values()}
    for name, text in scorecard.pages(RUNS, titles).items():
        assert (ROOT / "results" / name).read_text(encoding="utf-8") == text, name


PAGE = " ".join((ROOT / "docs" / "claims.md").read_text(encoding="utf-8").split())
LINKED = r"\[(\d-\w+)\]\(\.\./results/README\.md#\1\)"


def test_the_counts_of_changed_rows_are_those_of_their_table():
    table = pd.read_csv(ROOT / "results" / "changed_claims.csv")
    rows = table["claims"].str.count(",") + 1
    moved = rows.groupby(table["moves"]).sum()
    assert {*moved.index} == {"towards", "away", "neither", "new"}
    towards, away, neither = moved[["towards", "away", "neither"]]
    told = f"{towards} times towards the paper, {away} away from it, {neither} neither"
    for text in (scorecard.KNOWING, PAGE):
        assert f"{towards + away + neither} times: {told}" in text


def test_a_total_over_two_editions_says_so():
    one = RUN | {"claims": [CLAIM, OWN]}
    frozen = [{"edition": "1.0", "on": "2026-01-01", "why": "", "changed": []}]
    assert scorecard.editions([one, one]) == "" == scorecard.editions([one | {"edition": frozen}])
    of_both = [one, one | {"edition": frozen, "claims": [CLAIM, CLAIM]}, RUN]
    told = "They are 2 of edition 1.0 and 1 of edition 0.3.0."
    assert scorecard.editions(of_both) == told


#: On the trials of 0.3.0, of which the table of words was made.
OBSERVED = {
    claim["id"]: claim
    for run in RUNS.values()
    for claim in run["claims"]
    if claim["kind"] == "observation" and not run.get("edition")
}


def test_the_numbers_of_words_are_those_of_the_code_and_what_they_change_is_what_is_judged():
    rows = re.findall(r"\| ([\w -]+) \| ([\d.e/-]+), [^|]*(\|[^|]*\|[^|]*)\|", PAGE)
    assert {word: float(Fraction(number)) for word, number, _ in rows} == words.LIMITS
    for _, _, changes in rows:
        for name, word, number in re.findall(LINKED + r": ([\w ]+) \(([\d.]+)\) →", changes):
            if now := OBSERVED.get(name):
                main = now["readings"][0]["probability"]["value"]
                assert (word, number) == (now["verdict"], f"{main:.2f}"), name
    functions = re.findall(r"\| `(\w+)` \|", PAGE)
    assert functions and all(callable(getattr(words, name)) for name in functions)


def test_claims_of_an_earlier_version_are_named(tmp_path):
    folder = tmp_path / "03_old"
    folder.mkdir()
    (folder / "claims.json").write_text('{"claims": [], "theorems": []}', encoding="utf-8")
    with pytest.raises(ValueError, match=r"^03_old: .* earlier version, .*reproduce 03`"):
        scorecard.read(tmp_path)
