"""Pages quote what the runs of a small project found, are left alone elsewhere, and say so where there is no run."""

import fake_run
import pytest
from click.testing import CliRunner
from fake_project import NAME, commit_all

from kbrepro import paths
from kbrepro.__main__ import main
from kbrepro.batch import provenance, run
from kbrepro.site import quoted
from kbrepro.verdicts import pictures, scorecard

CLAIM = fake_run.CLAIM | {"verdict": "partly", "deciding": "reproduced with one; not reproduced with two"}
PLAYED = {"part": "it", "holds": 2, "fails": 1, "of": 4, "decides": "the x alone decides", "flips": {}}
CLAIM |= {"interpretations": PLAYED}
ANSWER = {"sentence": "Small stands.", "holds": True, "answers": ["1-A"]}
OPEN = CLAIM | {"id": "1-B", "verdict": "not evaluated", "note": "needs data: light", "deciding": ""}
PAGE = "docs/reproducibility.md"
TEXT = """# Small
<!-- begin costs -->
OLD
<!-- end costs -->
By hand: 1-A is <!-- begin 1-A -->OLD<!-- end 1-A -->, 1-Z <!-- begin 1-Z --><!-- end 1-Z -->.
<!-- begin run 01 -->
<!-- end run 01 -->
<!-- begin cost 01 --><!-- end cost 01 --> <!-- begin cost 02 --><!-- end cost 02 -->
"""


@pytest.fixture
def root(tmp_path):
    root = fake_run.cited_project(tmp_path)
    paths.write_text(root / PAGE, TEXT)
    return root


@pytest.fixture
def finished(root):
    """The project with a full-scale run, and what is left of another."""
    fake_run.write_run(root / "results" / "paper" / NAME, [CLAIM, OPEN], [ANSWER, ANSWER | {"holds": False}])
    return root


def test_blocks_are_filled_and_all_else_stays(finished):
    text = quoted.filled(TEXT, finished)
    assert "| `make paper` | 10 min of computing, which cores share |" in text
    (line,) = [line for line in text.splitlines() if line.startswith("By hand")]
    assert line == (
        "By hand: 1-A is <!-- begin 1-A -->◐ **partly** (holds 2, fails 1, open 1 of 4; the x alone decides); "
        "reproduced with one; not reproduced with two<!-- end 1-A -->, "
        "1-Z <!-- begin 1-Z -->no full-scale verdict yet<!-- end 1-Z -->."
    )
    assert "- Not evaluated: 1-B (needs data: light).\n- Settings of the run: `horizon` 20." in text
    assert "took 600 s of computing (10 min on one core)" in text and "took 1.5 min with 3 workers" in text
    assert "OLD" not in text
    assert quoted.filled(text, finished) == text


def test_verdicts_on_halves_are_counted_and_those_that_differ_listed(finished):
    block = "<!-- begin halves --><!-- end halves -->"
    assert "*No run was judged on halves of its trials.*" in quoted.filled(block, finished)
    others = [CLAIM | {"id": "1-B", "halves": ["partly", "partly"]}, CLAIM | {"id": "1-C"}]
    for halves, opposite in ((["partly", "undecided"], "none"), (["reproduced", "not reproduced"], "1-A")):
        fake_run.write_run(finished / "results" / "paper" / NAME, [CLAIM | {"halves": halves}, *others])
        text = quoted.filled(block, finished)
        assert "2 of 3 claims can be judged on each half of their trials. Of these, 1 have the same verdict" in text
        assert f"not reproduced on another: {opposite}." in text
        shown = " | ".join(f"{scorecard.GLYPHS[verdict]} {verdict}" for verdict in halves)
        assert f"the x alone decides) | {shown} |" in text and "| 1-B |" not in text


def test_where_no_run_is_the_page_says_so(root):
    text = quoted.filled(TEXT, root)
    assert text.count("*There is no full-scale run: ") == 3 and "| not known: there is no run |" in text


@pytest.mark.parametrize("name", ["costs 01", "run one", "finding", "1-a"])
def test_an_unknown_block_is_an_error_that_names_it(root, name):
    with pytest.raises(ValueError, match=f"block '{name}' is not allowed; allowed are such as halves, "):
        quoted.filled(f"<!-- begin {name} --><!-- end {name} -->", root)


@pytest.fixture
def no_picture(monkeypatch, styled):
    import matplotlib.pyplot as plt

    for name in ("all_parts", "totals"):
        monkeypatch.setattr(pictures, name, lambda its: plt.figure(figsize=(1, 1)))


def test_the_command_renews_scorecard_picture_and_pages_that_are_there(finished, monkeypatch, no_picture):
    monkeypatch.chdir(finished)
    done = CliRunner().invoke(main, ["scorecard"])
    assert done.output.split() == [
        "results/README.md",
        *(f"results/paper/{n}.png" for n in ("totals", "parts_01")),
        PAGE,
    ]
    assert (finished / PAGE).read_text() == quoted.filled(TEXT, finished)
    card = (finished / "results" / "README.md").read_text()
    assert "Small is beautiful." in card and "](paper/parts_01.png)" in card


def test_without_runs_and_pages_there_is_an_empty_scorecard(root):
    (root / PAGE).unlink()
    assert quoted.renew(root) == [root / "results" / "README.md"]


@pytest.mark.parametrize(
    ("options", "renewed"), [("--profile paper", True), ("", False), ("--profile paper --set a=1", False)]
)
def test_pages_are_renewed_after_full_scale_runs_if_one_failed(finished, monkeypatch, no_picture, options, renewed):
    def failed(*_):
        raise run.RunFailed("1 of 2 notebooks failed")

    monkeypatch.setattr(run, "run", failed)
    monkeypatch.chdir(finished)
    assert "Error: 1 of 2 notebooks failed" in CliRunner().invoke(main, ["reproduce", *options.split()]).output
    assert ("10 min of computing" in (finished / PAGE).read_text()) == renewed


def test_renewed_pages_do_not_make_the_next_run_dirty(root):
    commit_all(root)
    (root / PAGE).write_text("renewed")
    assert provenance.git_state(root)["dirty"] is False
    (root / "CITATION.cff").write_text("changed")
    assert provenance.git_state(root)["dirty"] is True


def test_what_is_no_paper_stands_apart_and_papers_are_in_the_order_of_their_years(finished):
    """A notebook without a paper comes last, and stands in no line of the totals."""
    own = fake_run.CLAIM | {"id": "3-A", "kind": "own question", "counts_as": "own question"}
    folder = finished / "results" / "paper"
    fake_run.write_run(folder / "03_side", [own])
    fake_run.write_run(folder / "00_late", [own | {"id": "0-A"}])
    runs = scorecard.read(folder)
    assert list(runs) == [NAME, "00_late", "03_side"] and list(scorecard.of_papers(runs)) == [NAME]
    card = scorecard.scorecard(finished)
    assert "| 03_side |" not in card and "<summary>03_side: 1 question of our own: 1 reproduced</summary>" in card
