"""README: short, its numbers those of the committed results, every code block runs. Docs: the same
of their codes.
"""

import json
import re
import subprocess
import sys
from functools import cache

import numpy as np
import pandas as pd
import pytest
from kept_trials import kept_in
from pages import FENCED, ROOT, blocks, page, run

import kbrepro as kb
from kbrepro.claims import scorecard
from kbrepro.claims.judging import AGAIN, NOT
from kbrepro.claims.replication import ONE_PLAY
from kbrepro.claims.tables import TOTAL

README = page("README.md")
PAPER = ROOT / "results" / "paper"
needs_results = pytest.mark.skipif(not PAPER.is_dir(), reason="there is no results folder")


def test_the_readme_is_short():
    """At most 900 words, without addresses of links and rules of tables."""
    text = re.sub(r"(?m)^\|[ |-]+\|$", "", re.sub(r"\]\([^)]*\)", "]", README))
    assert len(text.replace("|", " ").split()) <= 900


def test_the_examples_of_the_readme_run(tmp_path):
    """The first finds the top of the hill; the policy of the second can play."""
    own, mine = blocks(README, "python")
    (tmp_path / "own.py").write_text(own, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "own.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0 and "Warning" not in done.stderr, done.stderr
    x, y = map(float, re.findall(r"\d\.\d+", done.stdout))
    assert max(abs(x - 0.7), abs(y - 0.7)) < 0.11
    model = kb.Model(kb.grid(5), kb.SquaredExponential(0.3), 0.01)
    assert run([mine])["Mine"](model, 9).ask() in range(5)


def test_the_rules_of_the_table_of_advice_pull_arms():
    table = README.partition("## Which rule should I use?")[2].partition("## Run it")[0]
    codes = re.findall(r"`(kb\.[^`]+\))`", table)
    model = kb.Model(kb.grid(5), kb.SquaredExponential(0.3), 0.01, norm=2.0)
    assert len(codes) == 3
    for code in codes:
        assert eval(code, {"kb": kb, "model": model}).ask() in range(5)


def test_every_page_with_code_has_a_test_that_runs_it():
    pages = {
        path.name
        for path in (ROOT / "docs").glob("*.md")
        if blocks(path.read_text(encoding="utf-8"), "python")
    }
    # test_front_door, test_recipes, batch/test_beside, test_lattice, test_pages, test_replication
    assert pages == {"own_problem.md", "recipes.md", "beside.md", "many_arms.md", "using.md"} | {
        "replication.md"
    }


def test_code_has_at_most_100_columns():
    for path in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")]:
        for _, code in FENCED.findall(path.read_text(encoding="utf-8")):
            assert max(map(len, code.splitlines())) <= 100, (path, code)


# Its numbers


@cache
def runs():
    return scorecard.read(PAPER)


@cache
def claims():
    """Every claim by its id, as the paper's page shows it."""
    every = [claim for run in runs().values() for claim in run["claims"]]
    return {claim["id"]: claim for claim in every}


def shown(claim):
    return claims()[claim]["effect"]["value"]


def counts(notebook, kind="claims"):
    """How many observations have which verdict, in the order of the table; or findings."""
    rows = runs()[notebook][kind]
    verdicts = [row["verdict"] for row in rows if row.get("kind", "observation") == "observation"]
    return [verdicts.count(verdict) for verdict in scorecard.VERDICTS]


def joined(numbers):
    return "/".join(map(str, numbers))


def table(name):
    (path,) = PAPER.glob(f"{name[:2]}_*/tables/{name[3:]}.csv")
    return pd.read_csv(path)


def less(d):
    rows = table("03/since_the_paper").set_index(["change", "d", "algorithm"])["share"]
    return f"{100 * (1 - rows['published', d, 'π-GP-UCB'] / rows['published', d, 'IGP-UCB']):.0f}"


def factor(rule):
    return table("06/ranking").set_index("rule")["factor"][rule]


def fourth(rule):
    """The factor over the best rule on the problem where it is fourth largest, rounded down."""
    factors = table("06/bench").set_index("rule").loc[rule]
    assert factors["Branin"] >= factors.nlargest(4).min()
    return factors.nlargest(4).min() // 1


NUMBERS = {3: "three", 4: "four", 5: "five"}
FIGS_1_AND_2 = [f"Fig. {n} {panel}" for n in (1, 2) for panel in ("(a) SE", "(b) Matérn")]
NORMS = ("", ", B cut-off 1e-3", ", B cut-off 1e-10", ", B one", ", B printed")
SENSORS = [data + norm for data in ("temperature", "light") for norm in NORMS]


def over_igp_ucb(*labels, digits=0):
    """The mean R_T of GP-UCB over that of IGP-UCB, the smallest to the largest of labels."""
    ratios = []
    for label in labels:
        means = [kept_in("02").column(label, rule, TOTAL).mean() for rule in ("GP-UCB", "IGP-UCB")]
        ratios.append(means[0] / means[1])
    return f"{min(ratios):.{digits}f} to {max(ratios):.{digits}f}"


def three_sd():
    """The mean R_T of BKB with three plain standard deviations over that of the exact rule."""
    kept = kept_in("04")
    means = [kept.column("regret", rule, TOTAL).mean() for rule in ("BKB, 3 sd", "exact")]
    return means[0] / means[1]


def sentences():
    """The phrases of the README that have numbers, made from the committed results of its five
    papers.
    """
    papers_runs = [name for name in runs() if name[:2] <= "05"]
    totals = [sum(n) for n in zip(*map(counts, papers_runs), strict=True)]
    again, fails, sometimes, few = totals
    every = [one for name in papers_runs for one in runs()[name]["claims"]]
    observed = [one for one in every if one["kind"] == "observation"]
    uncertain = sum(one["uncertain"] for one in observed)
    fixed = [one["readings"][0]["probability"]["how"] for one in observed].count(ONE_PLAY)
    always = [one["verdict"] for one in observed if scorecard.under_all(one)]
    by_paper = [counts(name, "findings") for name in papers_runs]
    findings = [sum(n) for n in zip(*by_paper, strict=True)]
    ranked = table("06/ranking")
    shown_rules = ranked[~ranked["rule"].str.contains(", tuned")]
    fewer = shown_rules["problems"][shown_rules["problems"] < ranked["problems"].max()]
    facts = [json.loads(path.read_text()) for path in PAPER.glob("0[1-6]_*/run.json")]
    hours = sum(fact["compute_seconds"] for fact in facts) / 3600
    first = claims()["5-A"]["readings"][0]["probability"]["value"]
    return [
        f"their {sum(totals)} sentences",
        f"{uncertain} of these verdicts are uncertain",
        f"{fixed} were not rerun",
        f"They are {sum(findings)} findings: {joined(findings)}.",
        (
            f"**{again} come out again ({always.count(AGAIN)} under every interpretation of what"
            f" the paper leaves open), {fails} do not ({always.count(NOT)}), {sometimes} come out"
            f" now and then, of {few} too few trials are kept, or none as the paper has them.**"
        ),
        f"Regret of {len(shown_rules)} acquisition rules",
        (
            f"median of our {ranked['problems'].max()} problems, for {NUMBERS[len(fewer)]} rules"
            f" of {fewer.min()} to {fewer.max()};"
        ),
        *(
            f" | {joined(counts(name))}; {joined(found)} |"
            for name, found in zip(papers_runs, by_paper, strict=True)
        ),
        f"leaves {shown('1-D'):.2f} times the regret",
        f"{shown('1-O'):.2f} times its mean regret, {shown('1-E'):.2f} times its median",
        f"has {over_igp_ucb(*FIGS_1_AND_2)} times its regret in Figs. 1 and 2"
        f" ({over_igp_ucb(*(f'{label}, B printed' for label in FIGS_1_AND_2))} with the norm as"
        f" printed), {over_igp_ucb(*SENSORS, digits=1)} times on sensors, by the norm.",
        f"without a margin (up to {shown('2-D'):.1f} times its regret)",
        f"The sketch costs {100 * shown('4-H'):.1f} % regret",
        f"radius costs {1 + shown('4-N'):.1f} times the regret",
        f"three plain standard deviations {three_sd():.2f} times",
        f"{less(1)}, {less(2)} and {less(3)} % less regret for d = 1, 2, 3",
        f"{shown('3-J'):.0f} times as fast for d = 3",
        f"least cumulative regret in {100 * first:.0f} of 100 reruns",
        f"in {shown('5-X'):.0f} times the time",
        f"Regret: {factor('PIMS'):.1f} times the best rule's, in the median",
        f"Regret: {factor('IGP-UCB, tighter'):.1f} times the best rule's. |",
        (
            f"Regret: {factor('EI'):.1f} times the best rule's; over the best noisy reward "
            f"{factor('EI, noisy incumbent'):.0f} times"
        ),
        (
            f"on four test functions such as Branin, PIMS has at least {fourth('PIMS'):.0f} times"
            " the least regret"
        ),
        f"takes at most {np.ceil(hours):.0f} core hours (wall time)",
    ]


@needs_results
def test_every_number_of_the_readme_is_that_of_the_committed_results():
    """What is left are names, settings and times: they may stand without a result."""
    text = " ".join(re.sub(r"```.*?```|\]\([^)]*\)|`[^`]*`", "", README, flags=re.S).split())
    for words in sentences():
        assert words in text, words
        text = text.replace(words, "", 1)
    settings = (
        r"edition 0\.3\.0|Edition 1\.0|(?:d =|for d =) \d(?: and \d)?|Table"
        r" 1|GP-UCB/5"
    )
    settings += r"|Python 3\.11|\b20\d\d\b|Fig\. 1|footnote 11"
    assert re.findall(r"\S*\d\S*", re.sub(settings, "", text)) == []


@needs_results
def test_what_ei_beats_igp_ucb_with_in_fig_1():
    """And footnote 11 excludes it, as the claim's page says."""
    readings = claims()["2-C"]["readings"]
    number = {reading["value"]: reading["probability"]["value"] for reading in readings}
    excluded = [reading["value"] for reading in readings if reading["excluded_by"]]
    assert "no margin" in excluded
    assert [value for value, share in number.items() if share < 0.99] == ["no margin"]


@needs_results
def test_what_the_table_says_without_a_number():
    """IGP-UCB with both improvements leads for d = 1 and 2, and d = 3 is a tie."""
    rows = table("03/since_the_paper").set_index(["change", "d", "algorithm"])
    both = {name: rows.loc["both"].xs(name, level="algorithm") for name in ("IGP-UCB", "π-GP-UCB")}
    assert all(both["IGP-UCB"]["high"][d] < both["π-GP-UCB"]["low"][d] for d in (1, 2))
    assert both["IGP-UCB"]["low"][3] < both["π-GP-UCB"]["share"][3] < both["IGP-UCB"]["high"][3]
