"""The article and the letters hold no number that was typed, and stop at what is unknown, stale, or no longer so."""

import json
import re
import shutil
from pathlib import Path

import pytest
import yaml

from kbrepro.site import article
from kbrepro.site.placeholders import Results

ROOT = Path(__file__).parents[2]
TEMPLATE = ROOT / article.TEMPLATE
LETTERS = sorted((ROOT / "article" / "letters").glob("*.md"))
RUN = "06_side_by_side"


@pytest.fixture(scope="module")
def results():
    return Results(ROOT)


def test_the_article_is_filled_from_the_committed_runs(results, tmp_path):
    text = article.filled(TEMPLATE, results)
    assert "@{" not in text and "<!--" not in text and "nan" not in text.split()
    figures, tables = re.findall(r"!\[.*\]\((\S+)\)\\\n", text), re.findall(r"\n\n\|", text)
    assert 4 <= len(figures) <= 6 and 3 <= len(tables) <= 8
    assert len(re.findall(r"\n\*Figure \d\.", text)) == len(figures)
    assert len(re.findall(r"\n\*Table \d\.", text)) == len(tables)
    ranked = re.search(r"policy in \[(.*?)\]", TEMPLATE.read_text(encoding="utf-8"))[1].count('", "') + 1
    assert (
        len(re.findall(r"^\|.*\| (?:Bayesian|no proof|sublinear|near-optimal) \|$", text, flags=re.M)) == ranked == 14
    )
    assert "| GP-UCB (Theorem 1) |" in text and "\n| GP-UCB |" not in text
    page = article.page(ROOT, tmp_path)["article"]
    assert '<a href="02_igp_ucb_gp_ts_sensors.html#2-C">2-C</a>' in page and "](found_on_the_way.md)" in page
    assert all((tmp_path / figure).read_bytes().startswith(b"<?xml") for figure in figures)


def test_there_is_a_short_letter_to_the_authors_of_each_paper(results):
    papers = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))["references"]
    named = {f"{p['authors'][0]['family-names'].lower()}_{p['year']}" for p in papers}
    assert {path.stem[2:] for path in LETTERS} == named
    for letter in LETTERS:
        text = article.filled(letter, results)
        assert "draft, unsent" in text and "@{" not in text and text.count("?") >= 4
        assert len(text.split()) < 350, letter.name


def test_claims_whose_rules_were_revised_are_counted(results):
    files = sorted((ROOT / "results" / "paper").glob("0[1-5]_*/claims.json"))
    every = [r for file in files for r in json.loads(file.read_text(encoding="utf-8"))["claims"]]
    its = [r for r in every if r["counts_as"] in ("experiment", "theorem")]
    seen = [r for r in its if results["edition"] in {change.get("seen") for change in r["changes"]}]
    assert results["counted"] == str(len(its)) and results["counted seen"] == str(len(seen))
    assert results["counted revised"] == str(sum(r["changes"] != [] for r in its))
    of_one = sum(int(results[f"counted seen stands 0{n}"]) for n in range(1, 6))
    assert 0 < of_one == int(results["counted seen stands"]) < len(seen) < len(its)
    with pytest.raises(ValueError, match="counted young"):
        results["counted young"]


def test_the_same_answers_in_the_same_words_as_the_readme(results):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    findings = re.findall(r"@\{(finding [^}]*)\}", TEMPLATE.read_text(encoding="utf-8"))
    assert len(findings) > 15
    assert [name for name in findings if results[name] not in readme] == []


@pytest.mark.parametrize("typed", ["48%", "2.5", "12,000", "$0.43$", "$T = 215$", "twice", "tenfold", "a million"])
def test_a_number_that_was_typed_is_named(tmp_path, results, typed):
    wrong = tmp_path / "wrong.md"
    wrong.write_text(TEMPLATE.read_text(encoding="utf-8").replace("# 8.", f"It saves {typed} of it.\n\n# 8."))
    with pytest.raises(ValueError, match=rf"wrong\.md: typed, not filled in: .*{re.escape(typed.split()[-1])}"):
        article.filled(wrong, results)


def test_what_may_be_typed():
    text = "<!-- settings: 95%; GP-UCB/5 -->\n## 1. In 2010, Theorems 1 and 3 of eq. 4.1 (1-E)\n"
    text += "GP-UCB/5, 95%, $T^{2/3}$ @{1-E.mean}"
    assert article.typed(text) == []
    assert article.typed(text.replace("; GP-UCB/5", "")) == ["GP-UCB/5,"]


WRONG = {
    "9-A.mean": "is not in the results",
    "1-E.nothing": "is not in the results",
    "1-E.mean:wider": "word for the sign",
    "verdict 1-ZZ": "is not in the results",
    "finding 1-G": "0 sentences that hold",
    "given 1-D reproduced, 1-H reproduced": "1-H: the verdict is no longer",
    "figure 03/nothing": "is not in the results",
    "table 03/nothing; d": "is not in the results",
    "value 02/joint_settings; nothing.max()": "is not in the results",
    "nothing": "is not allowed",
}


@pytest.mark.parametrize("name", WRONG)
def test_an_unknown_name_is_an_error(results, name):
    with pytest.raises(ValueError, match=WRONG[name]):
        results[name]


@pytest.fixture
def copy(tmp_path):
    """A project with one full-scale run, without its trials."""
    (tmp_path / "notebooks" / "claims").mkdir(parents=True)
    shutil.copy(ROOT / "notebooks" / "claims" / f"{RUN}.yaml", tmp_path / "notebooks" / "claims")
    kept = shutil.ignore_patterns("played", "figures", "notebook.ipynb")
    shutil.copytree(ROOT / "results" / "paper" / RUN, tmp_path / "results" / "paper" / RUN, ignore=kept)
    return tmp_path


def test_a_number_is_shown_as_its_part_says(copy):
    its = {r["id"]: r for r in json.loads((copy / "results/paper" / RUN / "claims.json").read_text())["claims"]}
    part, results = its["6-G"]["parts"]["printed"], Results(copy)
    assert results["6-G.printed"] == part["shown"].partition(" ")[0]
    assert results["6-G.printed:interval"] == part["shown"] and results["6-G.printed:more"].endswith(" more")


@pytest.mark.parametrize(
    ("file", "old", "new", "named"),
    [
        (f"results/paper/{RUN}/claims.json", '"reproduced"', '"undecided"', "claims.json changed"),
        (f"results/paper/{RUN}/tables/ranking.csv", "PIMS", "PINS", "tables/ranking.csv changed"),
        (f"notebooks/claims/{RUN}.yaml", '"> 5"', '"> 6"', "its rules changed"),
    ],
)
def test_a_stale_value_is_an_error(copy, file, old, new, named):
    text = (copy / file).read_text(encoding="utf-8")
    assert old in text
    (copy / file).write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(ValueError, match=f"results of {RUN} are stale, since {named}"):
        Results(copy)["value 06/ranking; factor.min()"]


def test_a_sentence_that_no_longer_holds_is_an_error(copy):
    results = Results(copy)
    assert results["finding 6-B"].endswith("(6-B, 6-D)")
    for sentence in results.found.runs[RUN]["expected"]:
        sentence["holds"] = False
    with pytest.raises(ValueError, match="0 sentences that hold have 6-B"):
        results["finding 6-B"]


def test_what_is_cited_is_listed_and_what_is_listed_is_cited():
    text, _, listed = TEMPLATE.read_text(encoding="utf-8").partition("\n## References\n")
    cited = set(re.findall(r"([A-Z][a-z]+(?: et al\.| & [A-Z][a-z]+)?)(?:,| bounded)? \(?((?:19|20)\d\d)\b", text))
    named = set()
    for line in listed.strip().splitlines():
        names = [name.split()[-1] for name in line[2:].partition(". *")[0].split(", ")]
        label = " & ".join(names) if len(names) < 3 else f"{names[0]} et al."
        named.add((label, re.search(r"\b((?:19|20)\d\d)\.(?= \[|$)", line)[1]))
    assert len(named) > 10 and cited == named


def test_the_pdf(results):
    for package in ("pypandoc", "typst"):
        pytest.importorskip(package)
    made = article.pdf(article.filled(TEMPLATE, results), results.found.folder)
    assert made.startswith(b"%PDF") and len(made) < 1.5e6


def test_a_page_that_cannot_be_filled_says_why_and_no_article_is_no_page(copy, tmp_path):
    assert article.page(copy, tmp_path) == {}
    (copy / article.TEMPLATE).parent.mkdir()
    (copy / article.TEMPLATE).write_text("It has @{6-G.nothing} times the regret.")
    assert "not those of its text: @{6-G.nothing} is not in the results" in article.page(copy, tmp_path)["article"]
