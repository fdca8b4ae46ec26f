"""Papers are what their folders register: notebook and looks; nothing else in the package knows
one.
"""

import ast
import re
from pathlib import Path

import pytest

import kbrepro as kb
from kbrepro import papers
from kbrepro.claims.judging import sentences_of

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "kbrepro"
FOUND, LOOKS = papers.found(), papers.looks()
every_paper = pytest.mark.parametrize("folder", FOUND)


@every_paper
def test_a_synthesis_is_what_judges_no_paper(folder):
    """The folder says that it may import others; its claims are own questions, and remarks of the
    others: both are the same.
    """
    kinds = {getattr(each, "kind", "theorem") for each in sentences_of(folder)}
    assert FOUND[folder].synthesis == (not kinds & {"observation", "theorem"})


# Looks


def test_no_two_algorithms_of_a_paper_look_alike():
    for paper in FOUND.values():
        styles = [
            (colour, style)
            for colour, family in paper.families.items()
            for style in family.values()
        ]
        assert len(set(styles)) == len(styles), paper.notebook


def test_no_two_papers_give_an_algorithm_two_looks():
    for paper in FOUND.values():
        for colour, family in paper.families.items():
            assert all(LOOKS[name] == (colour, style) for name, style in family.items()), (
                paper.notebook
            )


# Nobody else knows a paper


def test_outside_the_papers_no_source_names_an_algorithm_a_notebook_or_a_papers_folder():
    others = [
        path for path in PACKAGE.rglob("*.py") if "papers" not in path.parts[len(PACKAGE.parts) :]
    ]
    # plain words mean other things too
    names = {name for name in LOOKS if not re.fullmatch("[a-z]+", name)}
    for path in others:
        text = path.read_text(encoding="utf-8")
        said = {node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Constant)}
        assert said & names <= set(kb.__all__), path
        for folder, paper in FOUND.items():
            assert paper.notebook not in text and not re.search(
                rf"\bpapers(\.|/|/?\W+){folder}\b", text
            ), path
