"""README: short, its numbers those of the committed results, every code block runs. Docs: the same
of their codes.
"""

import json
import re
import subprocess
import sys
from collections import Counter
from functools import cache

import numpy as np
import pandas as pd
from kept_trials import kept_in
from pages import ROOT, blocks, left_of_numbers, page

import kbrepro as kb
from kbrepro import papers
from kbrepro.claims import scorecard
from kbrepro.claims.judging import AGAIN, NOT, SOMETIMES, TOO_FEW
from kbrepro.claims.tables import TOTAL

README = page("README.md")
PAPER = ROOT / "results" / "paper"


def test_the_readme_is_short():
    """At most 800 words, without addresses of links and rules of tables."""
    text = re.sub(r"(?m)^\|[ |-]+\|$", "", re.sub(r"\]\([^)]*\)", "]", README))
    assert len(re.findall(r"[^|\s]+", text)) <= 800


def test_the_example_of_the_readme_runs(tmp_path):
    """It finds the top of the hill."""
    (own,) = blocks(README, "python")
    (tmp_path / "own.py").write_text(own, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "own.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0 and "Warning" not in done.stderr, done.stderr
    x, y = map(float, re.findall(r"\d\.\d+", done.stdout))
    assert max(abs(x - 0.7), abs(y - 0.7)) < 0.11


def test_the_rules_of_the_table_of_advice_pull_arms():
    table = README.partition("## Which rule should I use?")[2].partition("## How do I run it?")[0]
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


def table(name):
    (path,) = PAPER.glob(f"{name[:2]}_*/tables/{name[3:]}.csv")
    return pd.read_csv(path)


def less(d):
    """By how many percent the regret of π-GP-UCB is below that of IGP-UCB."""
    rows = table("03/since_the_paper")
    return below(rows[(rows["change"] == "published") & (rows["d"] == d)], "share")


def printed_less(d):
    """The same as Table 1 prints it."""
    rows = table("03/table1_regret")
    return below(rows[(rows["lengthscale"] == "usual") & (rows["d"] == d)], "printed")


def below(rows, column):
    shares = rows.set_index("algorithm")[column]
    return f"{100 * (1 - shares['π-GP-UCB'] / shares['IGP-UCB']):.0f}"


def factor(rule):
    return table("06/ranking").set_index("rule")["factor"][rule]


def fourth(rule):
    """The factor over the best rule on the problem where it is fourth largest, rounded down."""
    factors = table("06/bench").set_index("rule").loc[rule]
    assert factors["Branin"] >= factors.nlargest(4).min()
    return factors.nlargest(4).min() // 1


def said_of(records):
    """How many sentences have which verdict: `4 again, 3 not`."""
    verdicts = [record["verdict"] for record in records]
    names = zip(("again", "not", SOMETIMES, TOO_FEW), scorecard.VERDICTS, strict=True)
    return ", ".join(f"{n} {name}" for name, word in names if (n := verdicts.count(word)))


FIGS_1_AND_2 = [f"Fig. {n} {panel}" for n in (1, 2) for panel in ("(a) SE", "(b) Matérn")]
NORMS = ("", ", B cut-off 1e-3", ", B cut-off 1e-10", ", B one", ", B printed")
SENSORS = [data + norm for data in ("temperature", "light") for norm in NORMS]


def over_igp_ucb(*labels, digits=0):
    """The mean R_T of GP-UCB over that of IGP-UCB, the smallest to the largest of labels."""
    ratios = [ratio("02", label, "GP-UCB", "IGP-UCB") for label in labels]
    return f"{min(ratios):.{digits}f} to {max(ratios):.{digits}f}"


def ratio(notebook, label, rule, other, of_rule=""):
    """The mean R_T of a rule, kept in a label of its own if that is named, over that of another on
    the same trials.
    """
    kept = kept_in(notebook)
    column = kept.column(of_rule or label, rule, TOTAL)
    return column.mean() / kept.column(label, other, TOTAL)[: len(column)].mean()


def sentences():
    """The phrases of the README that have numbers, made from the committed results of its five
    papers.
    """
    observed = [record for record in claims().values() if record["kind"] == "observation"]
    by_paper = {name: [each for each in observed if each["id"][0] == name[1]] for name in runs()}
    n = Counter(record["verdict"] for record in observed)
    counts = {name[1]: Counter(each["verdict"] for each in by_paper[name]) for name in runs()}
    uncertain = sum(record["uncertain"] for record in observed)
    fixed = sum(map(scorecard.not_rerun, observed))
    ranked = table("06/ranking")
    shown_rules = ranked[~ranked["rule"].str.contains(", tuned")]
    facts = [json.loads(path.read_text()) for path in PAPER.glob("0[1-6]_*/run.json")]
    hours = sum(fact["compute_seconds"] for fact in facts) / 3600
    first = claims()["5-A"]["readings"][0]["probability"]["value"]
    unsure = [
        each["readings"][0]["probability"]["low"]
        for each in observed
        if each["verdict"] == AGAIN and each["uncertain"]
    ]
    return [
        f"{n[AGAIN]} come out again, {n[NOT]} do not, {n[SOMETIMES]} now and then, {n[TOO_FEW]} too"
        f" few; {uncertain} uncertain",
        f"**{n[AGAIN]} of {len(observed)} sentences come out again, {n[NOT]} do not**,"
        f" {n[SOMETIMES]} now and then; {n[TOO_FEW]} cannot be judged: too few trials, or none as"
        f" the paper describes. {uncertain} verdicts are uncertain, {len(unsure)} of the {n[AGAIN]}"
        f" among them: a 95 % interval, at worst {100 * min(unsure):.0f} to 100, crosses 10 or 90."
        f" Played once (dots): {fixed}.",
        *(f"| {said_of(each)} |" for each in by_paper.values() if each),
        f"{shown_rules.shape[0]} acquisition rules ranked",
        f"median of {ranked['problems'].max()} problems |",
        f"here {shown('1-D'):.2f} times",
        f"({shown('1-O'):.2f} times its mean regret), GP-UCB is not ({shown('1-P'):.2f} times)",
        f"grows {ratio('01', 'Fig. 5a', NOISY_EI, 'EI', f'Fig. 5a, {NOISY_EI[4:]}'):.0f}-fold",
        f"incurs {over_igp_ucb(*FIGS_1_AND_2, *(f'{label}, B printed' for label in FIGS_1_AND_2))}"
        f" times its regret in Figs. 1 and 2, by the norm,"
        f" {over_igp_ucb(*SENSORS, digits=1)} times on raw readings",
        f"{less(1)}, {less(2)} and {less(3)} % for d = 1, 2, 3 (printed:"
        f" {printed_less(1)}, {printed_less(2)}, {printed_less(3)})",
        f"the sketch costs {100 * shown('4-H'):.1f} % regret;",
        f"incurs {1 + shown('4-N'):.1f} times the regret of a sharper one",
        f"lowest cumulative regret is there in {100 * first:.0f} of 100 reruns**; all"
        f" {len(FAILED)} failures concern simple regret",
        f"Its {counts['3'][TOO_FEW]} sentences on time",
        f"a Bayesian proof | {factor('PIMS'):.1f} times |",
        f"| {factor('IGP-UCB, tighter'):.1f} times |",
        f"| {factor('EI'):.1f} times |",
        f"(noisy reward: {factor('EI, noisy incumbent'):.0f} times)",
        f"PIMS incurs {fourth('PIMS'):.0f} times the lowest regret |",
        f"anew: at most {np.ceil(hours):.0f} core hours",
    ]


NOISY_EI = "EI, noisy incumbent"
#: Sentences on simple regret that do not come out.
FAILED = {"5-D", "5-F", "5-N", "5-E", "5-Q"}


def test_every_number_of_the_readme_is_that_of_the_committed_results():
    """What is left are names, settings and times: they may stand without a result."""
    settings = r"[Ee]dition 1\.0|for d = 1, 2, 3|at (?:least|most) \d+ of 100|GP-UCB/5|β/5|95 %"
    settings += r"|Python 3\.11|\b20[12]\d\b|Figs?\. \d\w?|footnote 11|at most 10 do|10 or 90|1e-8"
    assert left_of_numbers(README, sentences(), settings) == []


def test_papers_whose_criteria_were_frozen_before_play_are_named():
    """Their short names, such as BKB."""
    named = re.search(r"\[Edition 1\.0\]\([^)]*\), so far ([^;]*), freezes", README)[1]
    found = papers.found().values()
    titles = {paper.notebook: re.split(",| and", paper.title)[0] for paper in found}
    frozen = {titles[name] for name, run in runs().items() if run.get("edition")}
    assert frozen <= {*re.split(", | and ", named)}


def test_what_ei_beats_igp_ucb_with_in_fig_1():
    """And footnote 11 excludes it, as the claim's page says."""
    readings = claims()["2-C"]["readings"]
    number = {reading["value"]: reading["probability"]["value"] for reading in readings}
    excluded = [reading["value"] for reading in readings if reading["excluded_by"]]
    assert "no margin" in excluded and shown("2-D") > 1
    assert {claims()[name]["verdict"] for name in ("2-K", "2-L")} == {NOT}  # GP-TS on sensors
    fails = [each for each in claims().values() if each["verdict"] == NOT]
    failed = {
        each["id"] for each in fails if each["kind"] == "observation" and each["id"][0] == "5"
    }
    assert failed == FAILED and all(
        "simple regret" in claims()[name]["effect"]["shows"] for name in FAILED
    )
    assert [value for value, share in number.items() if share < 0.99] == ["no margin"]
