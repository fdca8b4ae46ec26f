"""The article: four pages, its tables and numbers those of the committed results. Where one is
another the test prints the phrase or the row that belongs there.
"""

import re
from collections import Counter

from pages import left_of_numbers, page
from test_readme import claims, less, printed_less, runs, shown

from kbrepro.claims import scorecard
from kbrepro.claims.judging import AGAIN, NOT, SOMETIMES, TOO_FEW

ARTICLE = page("docs/article.md")
#: Papers, by the first digit of their claims.
PAPERS = {"1": "GP-UCB", "2": "IGP-UCB", "3": "π-GP-UCB", "4": "BKB", "5": "GPN-UCB"}


def test_the_article_has_at_most_four_pages():
    text = re.sub(r"(?m)^\|[ |-]+\|$", "", re.sub(r"\]\([^)]*\)", "]", ARTICLE))
    assert len(re.findall(r"[^|\s]+", text)) <= 1850


# Sentences under interpretations

UNCOUNTED = " (does not count)"
#: What the article calls values whose names are short elsewhere.
SAID = {
    "as it is": "exact",
    "counts": "raw readings",
    "raw": "raw readings",
    "standardised": "standardised readings",
    "usual": "the usual l",
    "eq. 2": "l √3",
    "four": "our guess",
    "|S|": "BKB's number",
    "exp(-100 r^2)": "exp(-100 r²)",
    "exp(-r^2/200)": "exp(-r²/200)",
}


def often(reading):
    """`96` of 100, or whether a sentence holds."""
    return scorecard.shown_often(reading, short=True).removesuffix(" of 100")


def link(name):
    """A sentence; what a paper argues or cites stands in italics."""
    mark = "*" * (claims()[name]["kind"] == "remark")
    return f"{mark}[{name}](../results/README.md#{name}){mark}"


def links(names):
    return ", ".join(map(link, names)) or "none"


def is_likely(reading):
    return reading["probability"]["value"] > 0.5


def turns(reading, record):
    """Whether an interpretation moves a sentence across one half."""
    return is_likely(reading) != is_likely(record["readings"][0])


def is_turned(record, choice=None):
    """Whether an interpretation that counts moves a sentence; of one `choice` alone, if given."""
    for reading in record["readings"]:
        if choice in (None, reading["choice"]) and reading["counts"] and turns(reading, record):
            return True
    return False


def turned(paper, choice):
    """The sentences of a paper that a choice alone moves."""
    of_paper = [record for record in claims().values() if record["id"].startswith(f"{paper}-")]
    asked = [record for record in of_paper if record["kind"] != "own question"]
    return links(record["id"] for record in asked if is_turned(record, choice))


def options(name, choice):
    """How many of 100 reruns support a sentence, by the value of a choice: first the main one, then
    those that count, and those that turn the sentence and do not count.
    """
    record = claims()[name]
    main, *others = record["readings"]
    if main["excluded_by"]:
        return "not played as the paper describes"
    (run,) = [run for notebook, run in runs().items() if notebook[1] == name[0]]
    values = {often(main): [row["value"] for row in run["choices"] if of_main(row, choice)]}
    for reading in others:
        if reading["choice"] == choice and (reading["counts"] or turns(reading, record)):
            number = often(reading) + UNCOUNTED * (not reading["counts"])
            values.setdefault(number, []).append(reading["value"])
    if choice == "days":
        return on_days(record)
    parts = [with_values(number, under) for number, under in values.items()]
    return ", ".join(parts) + ", no other counts" * (len(parts) < 2)


def of_main(row, choice):
    return row["main"] and row["choice"] == choice


def with_values(number, values):
    """`100 under *0.01* or *0*`."""
    listed = joined((f"*{SAID.get(value, value)}*" for value in values), "or")
    does_not_count = UNCOUNTED * number.endswith(UNCOUNTED)
    return f"{number.removesuffix(UNCOUNTED)} under {listed}{does_not_count}"


def on_days(record):
    main, *others = record["readings"]
    windows = [other for other in others if other["choice"] == "days" and other["counts"]]
    return (
        f"{often(main)} under *last third*; it holds in {sum(map(is_likely, windows))} of"
        f" {len(windows)} windows"
    )


def counts():
    """How many observations have which verdict."""
    return Counter(record["verdict"] for record in observed())


def observed():
    return scorecard.observed(claims().values())


# Tables


def agrees(name):
    """`● **comes out again** *(uncertain)*, 100`; without a number where nothing is drawn."""
    record = claims()[name]
    is_drawn = record["verdict"] != TOO_FEW and not scorecard.not_rerun(record)
    number = f", {often(record['readings'][0])}" * is_drawn
    return f"{scorecard.shown_outcome(record)}{number} ({link(name)})"


def originals():
    """The rows of the first table."""
    over_arms = ", by a posterior that the paper does not have"
    unlike = over_arms * bool(claims()["3-R"]["readings"][0]["excluded_by"])
    hours = f"{82 / 12:.1f}, {118 * 60 / 97:.0f} and {30 * 60 / 29:.0f}"
    ours = f"{shown('3-K'):.2g}, {shown('3-R'):.2g} and {shown('3-J'):.3g}"
    printed, lower = (f"{of(1)}, {of(2)} and {of(3)}" for of in (printed_less, less))
    rows = [
        ("1-D", "β divided by 5 improves GP-UCB",
         f"it incurs {shown('1-D'):.2f} times the regret"),
        ("1-F", "MPI does “equally well”",
         f"regrets differ by a factor of {shown('1-F'):.1f}"),
        ("2-A", "“significant improvement” over GP-UCB (Fig. 1)",
         f"GP-UCB incurs at least {shown('2-A'):.0f} times its regret"),
        ("2-C", "IGP-UCB is “the best” (Fig. 1)",
         f"it incurs at most {shown('2-C'):.2f} times the regret of its best rival"),
        ("2-L", "GP-TS is “better than the others” on light",
         f"it incurs {shown('2-L'):.1f} times the regret of its best rival"),
        ("4-AD", "“BKB's accuracy” (Fig. 1)",
         f"in 95 % of runs its worst variance is wrong by a factor up to {shown('4-AD'):.3f}"),
        ("3-G", f"Cells lower regret by {printed} % for $d$ = 1, 2, 3", f"by {lower} %"),
        ("3-R", f"IGP-UCB takes {hours} times the seconds", f"{ours} times{unlike}"),
        ("5-A", "GPN-UCB “outperforms all of the baselines”",
         f"it incurs up to {shown('5-A'):.1f} times the regret of its best rival"),
        ("5-D", "Both rules find “a near-optimal point” by $T$ = 50",
         f"they end up to {100 * shown('5-D'):.0f} % of the range below the maximum"),
        ("5-L", "Three ratios are 0.958, 0.939 and 0.934 (Fig. 6)",
         f"ours differ by at most {shown('5-L'):.1g}"),
    ]  # fmt: skip
    return [
        f"| {PAPERS[name[0]]} | {original} | {ours} | {agrees(name)} |"
        for name, original, ours in rows
    ]


#: What a paper leaves open: how the article calls it, the choice, a sentence, and what this says.
OPEN = [
    ("margin of MPI", "margin of MPI", "1-H", "GP-UCB and EI “clearly outperform the others”"),
    ("β on temperature", "beta", "1-I", "GP-UCB and EI are alike"),
    ("days of the temperature", "days", "1-I", "the same"),
    ("incumbent of EI and MPI", "incumbent", "1-P", "Theorem 1's β is “competitive”"),
    ("noise: “0.025 or 5%”", "noise", "1-P", "the same"),
    ("incumbent of EI and PI", "EI and PI", "2-C", "IGP-UCB “performs the best”"),
    ("norm $B$, printed as $f^\\top K f$", "norm", "2-Q", "“significantly improved” over GP-UCB"),
    ("scale of readings", "scaling", "2-M", "on light it is “better than GP-EI/PI”"),
    ("horizon on sensors", "T", "2-AG", "“performance improvements”"),
    ("lengthscale (eq. 2)", "lengthscale", "3-G", "“better performance”"),
    ("functions of Fig. 2", "functions", "3-O", "it “performs competitively”"),
    ("posterior that is timed", "posterior", "3-R", "“significantly more scalable”, $d$ = 2"),
    ("$\\bar q$ of Fig. 1", "qbar", "4-AD", "“BKB's accuracy”"),
    ("kernel of “bandwidth 100”", "kernel", "4-B", "a rival's variance is far too small"),
    ("number of random features", "features", "4-C", "another's is, too"),
    ("radius for use", "radius", "4-H", "“a negligible impact on the regret”"),
    ("envelope of the first layer", "first layer", "5-A", "GPN-UCB is best"),
    ("ties in a trial", "ties", "5-AC", "two curves are “indistinguishable”"),
]


def unstated():
    """The rows of the second table."""
    return [
        f"| {PAPERS[name[0]]} | {what} | {said}: {options(name, choice)} ({link(name)}) |"
        f" {turned(name[0], choice)} |"
        for what, choice, name, said in OPEN
    ]


# The text


def phrases():
    """The phrases that have numbers, or follow from verdicts."""
    n = counts()
    failed = [record for record in observed() if record["verdict"] == NOT]
    came = [record for record in observed() if record["verdict"] == AGAIN]
    helped, lost = sum(map(is_turned, failed)), sum(map(is_turned, came))
    firm = [record for record in failed if not is_turned(record)]
    unsure = [record for record in observed() if record["uncertain"]]
    widest = min(lowest(record) for record in came if record["uncertain"])
    findings = [finding for run in runs().values() for finding in run["findings"]]
    of_findings = Counter(finding["verdict"] for finding in findings)
    changed = re.search(r"\d+ times: .*? neither", scorecard.KNOWING)[0]
    alone = sum(map(is_alone, firm))
    left = f" For {alone} of them no other one counts." if alone else ""
    return [
        f"**{n[AGAIN]} of {len(observed())} sentences about results come out again in our"
        f" implementation, {n[NOT]} do not**, {n[SOMETIMES]} do now and then, and {n[TOO_FEW]}"
        " cannot be judged.",
        f"Another interpretation that counts reverses {helped} of the {n[NOT]} that do not come"
        f" out, and {lost} of the {n[AGAIN]} that do.",
        edition(),
        f"changed them, or what counts, {changed}",
        f"{len(unsure)} of the {len(observed())} verdicts are uncertain, among them"
        f" {sum(map(unsure.count, came))} of the {n[AGAIN]} that come out again: at worst the"
        f" interval reaches from {100 * widest:.0f} to 100.",
        f"Some sentences share their numbers, so that there are {len(findings)} findings:"
        f" {of_findings[AGAIN]} come out again, {of_findings[NOT]} do not.",
        incumbent_of_2017(),
        f"No interpretation that counts turns {len(firm)} of the {n[NOT]} sentences that do not"
        f" come out: {links(record['id'] for record in firm)}.{left}",
    ]


def lowest(record):
    return record["readings"][0]["probability"]["low"]


def is_alone(record):
    """Whether the main interpretation is the only one that counts."""
    return record["counted"] == 1


def edition():
    """Which papers show frozen criteria."""
    frozen, exploratory = [], []
    for notebook, run in runs().items():
        if notebook[1] in PAPERS:
            papers = frozen if run.get("edition") else exploratory
            papers.append(PAPERS[notebook[1]])
    if not exploratory:
        return "All papers show edition 1.0."
    return (
        f"So far edition 1.0 covers {joined(frozen)}. Edition 0.3.0 stands for"
        f" {joined(exploratory)}. It is exploratory: we knew its trials."
    )


def joined(names, word="and"):
    *most, last = names
    return f"{', '.join(most)} {word} {last}" if most else last


def incumbent_of_2017():
    assert shown("2-C") < 1 < shown("2-D"), "the incumbent decides no more"
    return (
        f"In Fig. 1 IGP-UCB incurs at most {shown('2-C'):.2f} times the regret of its best rival if"
        " EI improves on the best noisy reward. If EI improves on the best posterior mean, without"
        f" a margin, IGP-UCB incurs up to {shown('2-D'):.1f} times the regret of EI."
    )


def test_every_number_of_the_article_is_that_of_the_committed_results():
    """What is left are names and settings: they may stand without a result."""
    settings = r"\b(?:19|20)\d\d\b|[Ee]dition (?:1\.0|0\.3\.0)|0\.96 as “96 of 100|arXiv [\d.]+"
    settings += (
        r"|at least 90 of 100|at most 10|across 50 of 100|of 100 reruns|95 %|near 0|\$[^$]*\$"
    )
    settings += r"|30 or 25 functions|12 runs|Footnote 11"
    assert left_of_numbers(ARTICLE, [*originals(), *unstated(), *phrases()], settings) == []
