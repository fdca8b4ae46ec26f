"""Papers are what their folders register: notebook, hero, looks; nothing else in the package knows one."""

import ast
import re
from importlib import import_module
from pathlib import Path

import pytest
from colours import confused, distance, faults, of_figures, search

import kbrepro as kb
from kbrepro import papers
from kbrepro.claims import claims_of, theorems_of

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "kbrepro"
FOUND, LOOKS = papers.found(), papers.looks()
every_paper = pytest.mark.parametrize("folder", FOUND)


def test_every_folder_is_a_paper_with_one_notebook_its_claims_and_a_quick_profile():
    assert set(FOUND) == {path.parent.name for path in PACKAGE.glob("papers/*/paper.py")}
    assert set(FOUND) == {path.parent.name for path in PACKAGE.glob("papers/*/claims.py")}
    notebooks = [paper.notebook for paper in FOUND.values()]
    assert len({name[:2] for name in notebooks}) == len(notebooks) and all(name[:2].isdigit() for name in notebooks)
    for place in ("notebooks/*.py", "notebooks/*.ipynb", "notebooks/profiles/quick/*.yaml"):
        assert sorted(path.stem for path in ROOT.glob(place)) == notebooks, place


@every_paper
def test_ids_are_those_of_the_notebook_and_a_synthesis_is_what_judges_no_paper(folder):
    """The folder says that it may import others; its claims are all our own questions: both are the same."""
    found, theorems = claims_of(folder), theorems_of(folder)
    ids = [each.id for each in (*found, *theorems)]
    assert len(set(ids)) == len(ids) and all(name[0] == FOUND[folder].notebook[1] for name in ids)
    assert FOUND[folder].synthesis == ({each.kind for each in found} == {"own question"} and not theorems)


@every_paper
def test_figures_have_the_hero_of_the_paper(folder):
    if not (PACKAGE / "papers" / folder / "pictures.py").is_file():
        pytest.skip("it draws in its notebook")
    assert FOUND[folder].hero == import_module(f"kbrepro.papers.{folder}.pictures").HERO


# Looks


@every_paper
def test_algorithms_in_the_figures_of_a_paper_are_told_apart_in_every_vision(folder):
    paper = FOUND[folder]
    shown = {name: LOOKS[name] for family in paper.families.values() for name in family}
    assert paper.hero in shown
    assert faults(LOOKS[paper.hero][0], of_figures(paper, LOOKS)) == []
    assert confused(shown | {name: LOOKS[name] for name in paper.beside}) == []


@every_paper
def test_every_look_that_a_notebook_or_its_folder_asks_for_is_registered_with_it(folder):
    paper = FOUND[folder]
    sources = [ROOT / "notebooks" / f"{paper.notebook}.py", *PACKAGE.glob(f"papers/{folder}/*.py")]
    used = strings(*sources, docstrings=True) & set(LOOKS)
    if paper.synthesis:  # it colours kinds of rules, and names stand beside the marks
        used &= {name for family in paper.families.values() for name in family}
    assert paper.hero in used
    assert used <= {*paper.beside, *(name for family in paper.families.values() for name in family)}


def test_one_algorithm_has_one_look(monkeypatch):
    one = papers.Paper("07_one", "EI", {"#000000": {"EI": "-"}})
    for colour, style in (("#000000", ":"), ("#202868", "-")):
        other = papers.Paper("08_other", "EI", {colour: {"EI": style}})
        monkeypatch.setattr(papers, "found", lambda other=other: {"one": one, "other": other})
        with pytest.raises(ValueError, match=r"08_other: look .* of 'EI' is not allowed: it has \('#000000', '-'\)"):
            papers.looks()
    monkeypatch.setattr(papers, "found", lambda: {"one": one, "same": one})
    assert papers.looks() == {"EI": ("#000000", "-")}


@every_paper
def test_the_search_finds_the_next_colour_of_a_paper(folder):
    paper = FOUND[folder]
    its = of_figures(paper, LOOKS)
    (best, far), *others = search(its)
    assert far == pytest.approx(min(distance(best, colour) for colour in its)) and far >= others[0][1]
    assert (faults(LOOKS[paper.hero][0], {*its, best}) == []) == (far >= 15)
    (best, far), *_ = search(its - {LOOKS[paper.hero][0]}, hero=True)
    assert faults(best, {best}) == [] and far >= 15  # the hero can be found anew


def test_colours_too_near_or_too_pale_are_named():
    assert faults("#202868", {"#202868", "#202870"}) == ["#202868 and #202870: distance 1.2"]
    assert faults("#0098a8", {"#0098a8"}) == ["#0098a8: contrast 3.5"]  # well enough, but not for a hero
    assert faults("#000000", {"#000000", "#f0e442"}) == ["#f0e442: contrast 1.3"]


# Nobody else knows a paper


def strings(*paths, docstrings=False):
    """Every text in sources; with f-strings their fixed parts."""
    found = set()
    for path in paths:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        said = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        found |= {
            node.value
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and (docstrings or id(node) not in said)
        }
    return found


def test_outside_the_papers_no_source_names_an_algorithm_a_notebook_or_a_papers_folder_and_none_counts_papers():
    others = [path for path in PACKAGE.rglob("*.py") if "papers" not in path.parts[len(PACKAGE.parts) :]]
    names = {name for name in LOOKS if not re.fullmatch("[a-z]+", name)}  # plain words mean other things too
    assert strings(*others) & names <= set(kb.__all__)
    text = {path: path.read_text(encoding="utf-8") for path in others}
    for paper in FOUND.values():
        assert [path for path, its in text.items() if paper.notebook in its] == []
    for folder in FOUND:
        assert [path for path, its in text.items() if re.search(rf"\bpapers(\.|/|/?\W+){folder}\b", its)] == []
    counted = r"\b(three|four|five|six|seven|\d+) (papers|notebooks)\b"
    assert [path for path, its in text.items() if re.search(counted, its, flags=re.I)] == []
