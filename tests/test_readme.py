"""README: short, its numbers those of the committed results, every code block runs. Docs: the same of their codes."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from types import SimpleNamespace

import click
import numpy as np
import pandas as pd
import pytest
import yaml

import kbrepro as kb
from kbrepro.__main__ import main
from kbrepro.batch import provenance
from kbrepro.site import quoted
from kbrepro.verdicts import claims, scorecard

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
DATA = (ROOT / "data" / "README.md").read_text(encoding="utf-8")
REPRODUCIBILITY = (ROOT / "docs" / "reproducibility.md").read_text(encoding="utf-8")
RULES = [claims.load(path) for path in sorted((ROOT / "notebooks" / "claims").glob("*.yaml"))]
#: Those of papers (a synthesis has but our own questions).
PAPERS = [rules for rules in RULES if any(claim.kind != "own question" for claim in rules.claims.values())]
#: Those whose full-scale run is committed: pages tell of them.
PUBLISHED = [
    rules for rules in PAPERS if (ROOT / "results" / "paper" / rules.notebook / "claims.json").is_file()
] or PAPERS
QUOTED = re.compile(r"<!-- begin ([^>]+?) -->.*?<!-- end \1 -->", flags=re.S)


PAPER = ROOT / "results" / "paper"
needs_results = pytest.mark.skipif(not PAPER.is_dir(), reason="there is no results folder")


def blocks(text, language):
    fenced = re.findall(r"^ *```(\w*)\n(.*?)^ *```$", text, flags=re.S | re.M)
    return [code for name, code in fenced if name == language]


def test_the_readme_is_short_and_shows_a_picture_and_a_table_before_code():
    """At most 900 words, without addresses of links and rules of tables; no code of a claim, nothing generated."""
    text = re.sub(r"(?m)^\|[ |-]+\|$", "", re.sub(r"\]\([^)]*\)", "]", README))
    assert len(text.replace("|", " ").split()) <= 900
    before = README.partition("## Which rule")[0]
    assert (before.count("!["), before.count("\n| --- |"), before.count("```")) == (1, 1, 0)
    assert not re.findall(r"\b\d-[A-Z]{1,2}\b|<!--", README)


def test_the_examples_of_the_readme_run(tmp_path):
    """The first finds the top of the hill; the policy of the second can play."""
    own, mine = blocks(README, "python")
    (tmp_path / "own.py").write_text(own, encoding="utf-8")
    done = subprocess.run([sys.executable, "own.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "Warning" not in done.stderr, done.stderr
    x, y = map(float, re.findall(r"\d\.\d+", done.stdout))
    assert max(abs(x - 0.7), abs(y - 0.7)) < 0.11
    scope = {"__name__": "example"}
    exec(mine, scope)
    model = kb.Model(kb.grid(5), kb.SquaredExponential(0.3), 0.01)
    assert scope["Mine"](model, 9).ask(np.random.default_rng(1)) in range(5)


def test_the_rules_of_the_table_of_advice_pull_arms():
    table = README.partition("## Which rule should I use?")[2].partition("## Run it")[0]
    codes = re.findall(r"`(kb\.[^`]+\))`", table)
    model = kb.Model(kb.grid(5), kb.SquaredExponential(0.3), 0.01, norm=2.0)
    assert len(codes) == 3
    for code in codes:
        assert eval(code, {"kb": kb, "model": model}).ask(np.random.default_rng(1)) in range(5)


def test_examples_of_docs_that_no_other_test_runs(monkeypatch):
    """The kept trials of Table 1 can be read; the SLURM script needs a package that is not installed: a substitute."""
    pages = {path.name: blocks(path.read_text(encoding="utf-8"), "python") for path in (ROOT / "docs").glob("*.md")}
    elsewhere = {"own_problem.md", "beside.md", "many_arms.md"}  # test_front_door, batch/test_beside, test_lattice
    here = {"read_results.md", "several_machines.md"}
    assert {name for name, codes in pages.items() if codes} == elsewhere | here
    cluster = SimpleNamespace(job_script=str, scale=lambda jobs: None, scheduler_address="tcp://")
    monkeypatch.setitem(sys.modules, "dask_jobqueue", SimpleNamespace(SLURMCluster=lambda **_: cluster))
    monkeypatch.chdir(ROOT)
    scope = {}
    for name in here:
        for code in pages[name] if name == "several_machines.md" or PAPER.is_dir() else ():
            exec(dedent(code), scope)
    assert not PAPER.is_dir() or set(scope["tidy"]["algorithm"]) >= {"IGP-UCB", "π-GP-UCB"}


def commands():
    """Every command of kbrepro in a code block of README and docs, as words."""
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))):
        for line in "\n".join(blocks(page.read_text(encoding="utf-8"), "")).splitlines():
            for command in line.partition("#")[0].split("&&"):
                words = shlex.split(command.strip()) if "kbrepro " in command else []
                at = next((i for i, word in enumerate(words) if word.endswith("kbrepro")), None)
                if at is not None and "=" not in words[at] and words[0] not in ("git", "cd", "dask", "pip"):
                    yield pytest.param(words[at + 1 :], id=f"{page.stem}: {' '.join(words[at:])}")


@pytest.mark.parametrize("words", [*commands()])
def test_every_command_is_one_that_the_program_takes(words):
    """Its name, arguments and options are parsed, and nothing is run."""
    name, *rest = words
    command = main.commands[name]
    while isinstance(command, click.Group) and rest:
        command = command.commands[rest.pop(0)]
    command.make_context(name, rest)


def test_every_relative_link_leads_somewhere():
    links = re.findall(r"\]\(([^)]+)\)", README)
    assert len(links) >= 15
    gone = [] if PAPER.is_dir() else [link for link in links if link.startswith("results/")]
    assert [link for link in links if not (ROOT / link).exists() and link not in gone] == []


# Its numbers


def record(claim):
    (folder,) = PAPER.glob(f"0{claim[0]}_*")
    return {r["id"]: r for r in scorecard.read_run(folder)["claims"]}[claim]


def value(claim, part):
    return record(claim)["parts"][part]["value"]


def table(name):
    (path,) = PAPER.glob(f"{name[:2]}_*/tables/{name[3:]}.csv")
    return pd.read_csv(path)


def sentence(claim, words):
    """The number N in these words of a finding that holds and rests on a claim."""
    (folder,) = PAPER.glob(f"0{claim[0]}_*")
    its = [
        e["sentence"] for e in scorecard.read_run(folder)["expected"] if claim in e.get("answers", ()) and e["holds"]
    ]
    (found,) = re.findall(words.replace("N", r"(\d[\d.]*)"), "\n".join(its))
    return found


def standing():
    runs = scorecard.of_papers(scorecard.read(PAPER))
    return {name[:2]: [len(group) for group in scorecard.standing(run["claims"])] for name, run in runs.items()}


def less(d):
    its = table("03/table1").set_index(["lengthscale", "d", "algorithm"])["mean of ratios"]
    return f"{100 * (1 - its['usual', d, 'π-GP-UCB'] / its['usual', d, 'IGP-UCB']):.0f}"


def missed():
    its = table("05/missed_best_arms")
    return (its[its["kind"] == "draws, obvious maximiser"]["end"] > 0.05).mean()


def wider():
    """Mean regret of GP-UCB over that of IGP-UCB with the width that is proved, least of four panels."""
    panels = [table(f"02/fig{number}_average_regret_per_trial").mean() for number in ("1_a", "1_b", "2_a", "2_b")]
    return min(its["GP-UCB"] / its["IGP-UCB, gain of the pulls"] for its in panels)


def factor(rule):
    return table("06/ranking").set_index("policy")["factor"][rule]


def told():
    """The sentences of the README that have numbers, made from the committed results."""
    totals, counted = [sum(n) for n in zip(*standing().values(), strict=True)], sum(map(sum, standing().values()))
    every = [r for run in scorecard.of_papers(scorecard.read(PAPER)).values() for r in run["claims"]]
    ranked = table("06/ranking")
    hours = sum(json.loads(path.read_text())["compute_seconds"] for path in PAPER.glob("0*/run.json")) / 3600
    return [
        f"checked {counted} of their claims: **{totals[0]} stand, {totals[1]} fail, {totals[2]} we could not settle.**",
        f"regret of {(~ranked['policy'].str.contains(', tuned')).sum()} acquisition rules over that of the best",
        f"median of our {ranked['problems'].max()} problems",
        *(f" | {' / '.join(map(str, n))} |" for n in standing().values()),
        f"Dividing β saves {sentence('1-D', 'saves N%')} % of the regret",
        f"{100 * value('1-E', 'mean'):.0f} % in the mean, {100 * value('1-E', 'median'):.0f} % in the median",
        f"bounds are at least {sentence('1-L', 'at least N times')} times the regret",
        f"GP-UCB has at least {10 * (wider() // 10):.0f} times its regret",
        f"up to {1 + value('2-D', 'mean'):.1f} times EI's regret",
        f"The sketch costs {100 * value('4-H', 'theory'):.1f} % regret",
        f"the regret is {1 + value('4-N', 'theorem'):.1f} times as high",
        f"{less(1)}, {less(2)} and {less(3)} % less regret for d = 1, 2, 3",
        f"{sentence('5-A', 'N% less')} % less cumulative regret than the best of four rules",
        f"misses a clear peak on {100 * missed():.0f} % of chains",
        f"within {sentence('5-J', 'within N% of')} % of the range of its rival cEI",
        f"{len(scorecard.changed_after(every))} of the {counted} criteria were changed",
        f"{factor('PIMS'):.1f} times the best rule's regret",
        f"{factor('IGP-UCB, tighter'):.1f} times. |",
        f"posterior mean*: {factor('EI'):.1f} times",
        f"noisy reward: {factor('EI, noisy incumbent'):.0f} times",
        f"PIMS has at least {sentence('6-F', 'at least N times')} times the least regret",
        f"takes {hours:.0f} core hours",
    ]


@needs_results
def test_every_number_of_the_readme_is_that_of_the_committed_results():
    """What is left are names, settings and times: they may stand without a result."""
    text = " ".join(re.sub(r"```.*?```|\]\([^)]*\)|`[^`]*`", "", README, flags=re.S).split())
    for words in told():
        assert words in text, words
        text = text.replace(words, "", 1)
    settings = (
        r"edition 0\.3\.0|Edition 1\.0|(?:d =|for) \d(?: and \d)?|1,000 arms|Table 1|GP-UCB/5|Python 3\.11|\b20\d\d\b"
    )
    assert re.findall(r"\S*\d\S*", re.sub(settings, "", text)) == []


@needs_results
@pytest.mark.parametrize("page", provenance.PAGES)
def test_pages_quote_the_committed_runs(page):
    """If this fails after a full-scale run: `kbrepro scorecard`."""
    text = (ROOT / page).read_text(encoding="utf-8")
    assert len(QUOTED.findall(text)) >= 3
    assert quoted.filled(text, ROOT) == text


def test_nothing_in_readme_docs_and_notebooks_reads_like_a_form():
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "notebooks").glob("*.*")]
    ugly = r"\(open\)|nan%|Not so in this run|differs by"
    assert {path.name for path in pages if re.search(ugly, path.read_text(encoding="utf-8"))} == set()
    whole = {path.parent.name: path.read_text(encoding="utf-8") for path in PAPER.glob("0*/notebook.ipynb")}
    assert {name for name, text in whole.items() if re.search(f"{ugly}|Too short to judge", text)} == set()


def test_every_claim_cited_is_in_the_rules():
    allowed = {name for rules in RULES for name in rules.claims}
    for page in [README, DATA, *(path.read_text(encoding="utf-8") for path in (ROOT / "docs").glob("*.md"))]:
        cited = re.findall(r"(?<![\w-])\d-[A-Z]{1,2}(?![\w-])", page)
        assert set(cited) <= allowed, set(cited) - allowed


def test_every_question_to_the_authors_names_the_claim_and_its_verdict():
    """Each section has its paper's questions, and each verdict stands behind the id that it belongs to."""
    sections = REPRODUCIBILITY.split("\n## ")[1:]
    assert len(sections) == len(PUBLISHED)
    for number, section in enumerate(sections, start=1):
        asked = section.partition("**Questions to the authors.**")[2].partition("**Deviations.**")[0]
        questions = re.split(r"^\d+\. ", asked, flags=re.M)[1:]
        assert len(questions) >= 4
        for question in questions:
            told = re.findall(r"(\d-[A-Z]{1,2}): <!-- begin (\d-[A-Z]{1,2}) -->", question)
            assert told and all(cited == name and name[0] == str(number) for cited, name in told), question
            assert "?" in question
        assert [f"run 0{number}", f"cost 0{number}"] == re.findall(r"<!-- begin ((?:run|cost) \d+) -->", section)


def test_no_verdict_and_no_time_of_ours_is_typed_by_hand():
    typed = QUOTED.sub("", REPRODUCIBILITY)
    verdicts, times = r"[●◐◌○]|\breproduced\b|\bpartly\b|\bundecided\b", r"\d\s*(?:%|s\b|min|hour|h\b)"
    assert re.findall(f"{verdicts}|{times}", typed) == []


def test_the_table_of_data_names_the_claims_that_each_set_unlocks():
    rows = [line.split("|") for line in DATA.splitlines() if line.startswith("|")]
    for name, folder in (("temperature", "intel-lab"), ("light", "cmu-light"), ("traffic", "traffic")):
        needs = {
            c.id for rules in PUBLISHED for c in rules.claims.values() if name in np.ravel(c.needs.get("data", []))
        }
        (told,) = [
            row[4] for row in rows if len(row) > 4 and row[1].strip().startswith(f"{name}:") and folder in row[3]
        ]
        assert set(re.findall(r"\d-[A-Z]{1,2}", told)) == needs, name


def test_every_commanded_target_is_in_the_makefile():
    targets = set(re.findall(r"`?make (\w+)", README)) - {"or"}
    rules = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.M))
    assert {"report", "test", "paper"} <= targets <= rules


def test_citation_file_names_the_papers_with_their_notebooks_and_the_addresses_that_these_give():
    papers = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))["references"]
    assert [paper["notes"] for paper in papers] == [f"Notebook {rules.notebook}" for rules in PUBLISHED]
    for paper, rules in zip(papers, PUBLISHED, strict=True):
        head = (ROOT / "notebooks" / f"{rules.notebook}.py").read_text(encoding="utf-8")[:2000].replace("\n# ", " ")
        assert f"({paper['url']})" in head and paper["title"] in head
