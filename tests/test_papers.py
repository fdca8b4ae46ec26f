"""Papers are what their folders register: notebook and looks; nothing else in the package knows
one.
"""

import ast
import re
from functools import partial
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
    kinds = {getattr(sentence, "kind", "theorem") for sentence in sentences_of(folder)}
    assert FOUND[folder].synthesis == (not kinds & {"observation", "theorem"})


# A short algorithm beside a rule of the package


class Staying:
    """Keeps an arm while it pays, otherwise takes one at random."""

    def __init__(self, model, horizon, rng):
        self.rng = rng
        self.arm = int(rng.integers(8))

    def ask(self):
        return self.arm

    def tell(self, arm, observation):
        if observation < 0:
            self.arm = int(self.rng.integers(8))


def staying(pull, rng):
    arms = []
    arm = int(rng.integers(8))
    for _ in range(20):
        arms.append(arm)
        if pull(arm) < 0:
            arm = int(rng.integers(8))
    return arms


def test_a_short_algorithm_must_pull_the_arms_of_the_package_on_its_noise_and_its_draws():
    trial = kb.Trial(3, 0)
    problem = kb.GPDraw(kb.SquaredExponential(0.2), kb.grid(8), 0.5)(trial)
    arms = staying(partial(problem.pull, rng=trial.rng("noise")), trial.rng("policy"))
    assert len({*arms}) > 2
    words = f"20 of 20 pulls agree; the first five: {arms[:5]}"
    assert papers.same_arms(staying, Staying, problem, 20, trial) == words
    for wrong in (
        lambda pull, rng: staying(pull, rng)[:-1],
        lambda pull, rng: staying(lambda arm: -pull(arm), rng),
        lambda pull, rng: staying(pull, rng.spawn(1)[0]),
    ):
        with pytest.raises(ValueError, match="the short algorithm pulls"):
            papers.same_arms(wrong, Staying, problem, 20, trial)


# Looks


@every_paper
def test_no_two_algorithms_of_a_paper_look_alike_and_none_looks_otherwise_in_another(folder):
    looks = [
        (name, (colour, style))
        for colour, family in FOUND[folder].families.items()
        for name, style in family.items()
    ]
    assert len({look for _, look in looks}) == len(looks)
    assert [name for name, look in looks if LOOKS[name] != look] == []


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
