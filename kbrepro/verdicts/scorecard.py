"""What the runs found, in words and tables: at a glance, verdict tables, the scorecard. Generated, never typed."""

import json
import textwrap
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from kbrepro.verdicts import interpretations
from kbrepro.verdicts.claims import VERDICTS

#: What stands in claims.json: a claim with its verdict, or a sentence.
Record = Mapping[str, Any]
#: What runs left, by notebook (see `read_run`).
Runs = Mapping[str, Mapping[str, Any]]

#: A glyph a verdict, so that a table can be read without colour.
GLYPHS = dict(zip(VERDICTS, ("●", "◐", "◑", "◌", "○", "–"), strict=True))
COUNTED = ("theorem", "experiment")
ASIDE = {"sanity check": "they could hardly fail", "substitute data": "other data than the paper's"}
ASIDE |= {"own question": "our own questions"}
OUTSIDE = "outside the totals"
#: What did not come out, the worst first.
FAILED = ("not reproduced", "depends", "partly", "undecided")
FULL_SCALE = "paper"
#: The picture of all parts, beside the full-scale runs.
PICTURE = "all_parts.png"
#: Headings and columns of the scorecard.
CARD = {"": "id", "the paper says": "says", "we find": "found", "rule": "rule", "verdict": "mark"}
CARD |= {"interpretations": "in interpretations", "either half": "in halves"}

LEGEND = (
    "A part of a claim holds if its whole 95 % interval meets the rule, fails if none of it does, and is undecided "
    "otherwise. ● reproduced: all parts hold. ◐ partly: some hold, some fail. ◑ depends: interpretations of the paper "
    "disagree. ◌ undecided: none fails, some are open, or an interpretation is. "
    "○ not reproduced: some fail, none holds. – not evaluated: the run lacked what the claim needs, or a control "
    "failed. Outside the totals: *sanity check* (could hardly fail), *substitute data* (other data than the "
    "paper's), *own question*."
)


# Loading what runs left


def read_run(folder: Path) -> dict[str, Any]:
    """Return what one run left, as far as it is there.

    `rules`, `expected` and `claims` (see `rows`), of its claims.json; `figures` (`title`, `curves`, `tables`) and
    `tables` (`kind`) by name, of its manifest.json; `facts`, its run.json.
    """
    run: dict[str, Any] = {"rules": "", "expected": [], "claims": [], "figures": {}, "tables": {}}
    run |= _read(folder / "claims.json") | _read(folder / "manifest.json") | {"facts": _read(folder / "run.json")}
    return run | {"claims": rows(run["claims"], run["expected"])}


def _read(path: Path) -> dict[str, Any]:
    """The content of a JSON file, nothing if there is none; ValueError says what to do with one that cannot be read."""
    try:
        return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    except ValueError as error:
        where = "/".join(path.parts[-4:])
        raise ValueError(f"{where} cannot be read ({error}): restore it, or run the notebook again") from None


def read(results: Path) -> dict[str, dict[str, Any]]:
    """Return `read_run` of every notebook under a results folder (`results/<profile>`), by notebook."""
    return {folder.name: read_run(folder) for folder in finished(results, "claims.json")}


def finished(results: Path, file: str) -> list[Path]:
    """Return the folders of all notebooks under a results folder in which a file is; those half written aside."""
    folders = sorted(path.parent for path in results.glob(f"[0-9][0-9]_*/{file}"))
    return [folder for folder in folders if not folder.name.endswith(".partial")]


# The table that everything else is a view of


def rows(
    records: Iterable[Record], expected: Iterable[Record] = (), full: Iterable[Record] = ()
) -> list[dict[str, Any]]:
    """Return records, each with what is said of it in Markdown, by column.

    `expected`: the sentences of its run, some of which explain a claim; `full`: rows of the full-scale run.
    """
    beside, told = {r["id"]: r for r in full}, [e for e in expected if e["holds"]]
    return [dict(r) | _said(r, told, beside.get(r["id"])) for r in records]


def _said(r: Record, expected: list[Record], full: Record | None) -> dict[str, str]:
    """The columns that are made of a record; `mark` is glyph, verdict and what qualifies it, `reason` why it is so."""
    aside = f" ({r['counts_as']})" if r["counts_as"] in ASIDE else ""
    revised = f" (*revised after seeing data*; by the rule before: {r['revised']['verdict']})" if "revised" in r else ""
    note, why = r["note"], r["note"] or r["deciding"]
    told = [e["why"] for e in expected if r["id"] in e.get("explains", ())]
    halves = ["same" if half == r["verdict"] else f"{GLYPHS[half]} {half}" for half in r.get("halves", [])]
    return {
        "aside": aside,
        "mark": f"{GLYPHS[r['verdict']]} **{r['verdict']}**{aside}{revised}",
        "found": f"*{note}*" if r["verdict"] == "not evaluated" else r["finds"] + f" ({note})" * bool(note),
        "rule": rules_of(r),
        "why": why,
        "reason": told[0] if told else f"{why[0].upper()}{why[1:]}." if why else r["finds"],
        "in interpretations": interpretations.in_words(r["interpretations"]) if "interpretations" in r else "",
        "in halves": ", ".join(halves) or "–",
        "at full scale": f"{full['mark']}: {full['finds']}" if full and full["finds"] else "no run is here",
    }


def view(its: Iterable[Record], columns: Mapping[str, str]) -> str:
    """Return rows as a Markdown table of the columns {heading: column}."""
    return table(list(columns), [[r[column] for column in columns.values()] for r in its])


def table(head: Sequence[str], lines: Iterable[Sequence[Any]]) -> str:
    """Return a Markdown table; bars and line ends in cells are taken care of."""
    rows = head, ["---"] * len(head), *lines
    cells = ([" ".join(str(cell).split()).replace("|", "\\|") for cell in row] for row in rows)
    return "\n".join(f"| {' | '.join(row)} |" for row in cells)


def rules_of(record: Mapping[str, Any]) -> str:
    """Return what every part is and its rule, in words; parts that are "the same" of another thing share their line."""
    lines: list[tuple[str, str, list[str]]] = []
    for part in record["parts"].values():
        flags = [name for key, name in (("control", "control"), ("own", "own question")) if part.get(key)]
        flags += filter(None, [part.get("interpretation")])
        if part["is"].startswith("the same") and lines and lines[-1][1] == part["rule"]:
            flags = [part["is"].removeprefix("the same").strip(", "), *flags]
        else:
            lines.append((part["is"], part["rule"], []))
        lines[-1][2].append(", ".join(filter(None, flags)))
    named = [(f"{what}: {rule}", "; ".join(filter(None, names))) for what, rule, names in lines]
    return "; ".join(f"{text} ({names})" if names else text for text, names in named)


# In words


def _tally(kinds: Iterable[str], its: Sequence[str]) -> list[str]:
    """How often each of `kinds` is among others, where it is: '5 reproduced'."""
    return [f"{its.count(kind)} {kind}" for kind in kinds if kind in its]


def summary(records: Sequence[Record]) -> str:
    """Return the count of every verdict among what counts, then what stands outside: '5 reproduced; 1 own question'."""
    inside = _tally(VERDICTS, [r["verdict"] for r in records if r["counts_as"] in COUNTED])
    outside = _tally(ASIDE, [r["counts_as"] for r in records])
    return ", ".join(inside) + f"; outside the totals {', '.join(outside)}" * bool(outside)


def glance(its: Sequence[Record], notebook: str) -> str:
    """Return a few lines of Markdown: verdicts by kind, headline, what failed, which open choices decide."""
    if not its:
        return f"*No full-scale run of {notebook} is here: `kbrepro reproduce {notebook[:2]} --profile {FULL_SCALE}`.*"
    lines = []
    for kind, name in (("theorem", "Theorems"), ("experiment", "Experiments")):
        if verdicts := [r["verdict"] for r in its if r["counts_as"] == kind]:
            lines.append(f"- **{name}** ({len(verdicts)}): {', '.join(_tally(VERDICTS, verdicts))}.")
    kinds = [r["counts_as"] for r in its]
    if told := [f"{kinds.count(kind)} {kind} ({means})" for kind, means in ASIDE.items() if kind in kinds]:
        lines.append(f"- **Outside the totals**: {', '.join(told)}.")
    headlines = [r for r in its if r.get("headline") and r["finds"]]
    for r in headlines:
        lines.append(f"- **Headline** ({r['id']}, {r['verdict']}): {r['finds']}" + f" ({r['why']})" * bool(r["why"]))
    for verdict in FAILED:
        failed = [r for r in its if r["verdict"] == verdict and r["counts_as"] in COUNTED and r not in headlines]
        said = [f"*{r['says'].rstrip('.')}* ({': '.join(filter(None, [r['id'], r['why']]))})" for r in failed]
        lines += [f"- **{verdict.capitalize()}**: {'; '.join(said)}."] if said else []
    ranked = _ranking(its).sort_values("share", ascending=False)
    if strong := [f"{row.choice} {row.share:.0%}" for row in ranked.itertuples() if row.flips]:
        means = "of every two interpretations that differ in one choice alone, the share of which one lets the claim"
        lines.append(f"- **What the paper leaves open**: {means} hold and one not: {', '.join(strong)}.")
    return "\n".join(lines)


def _ranking(its: Iterable[Record]) -> pd.DataFrame:
    return interpretations.ranking({r["id"]: r["interpretations"]["flips"] for r in its if r.get("interpretations")})


def verdict_table(its: Sequence[Record], beside: bool) -> str:
    """Return Markdown: says, finds, rule, verdict of each row, and, to lay `beside` them, that at full scale."""
    columns = {"": "id", "the paper says": "says", "this run finds": "found", "rule": "rule", "verdict": "mark"}
    return view(its, columns | ({"at full scale": "at full scale"} if beside else {}))


def for_terminal(runs: Runs, width: int = 100) -> str:
    """Return every claim in lines of at most `width` characters: verdict, what the paper says, what the run finds."""
    lines = []
    for notebook, run in runs.items():
        lines += ["", notebook, summary(run["claims"])]
        for r in run["claims"]:
            lines.append(f"  {r['id']}  {GLYPHS[r['verdict']]} {r['verdict']}{r['aside']}")
            for text in (r["says"], f"-> {r['found'].strip('*')}"):
                lines += textwrap.wrap(text, max(width, 40), initial_indent=" " * 7, subsequent_indent=" " * 7)
    return "\n".join(lines).lstrip("\n")


# The scorecard


def scorecard(root: Path, results: Path | None = None) -> str:
    """Return the scorecard in Markdown: every claim of a results folder, by default of the full-scale runs."""
    paper = root / "results" / FULL_SCALE
    runs = read(results or paper)
    of_record = results is None or results == paper
    parts = ["# Scorecard", LEGEND, matrix(runs)]
    if (paper / PICTURE).is_file() and of_record:
        parts.append(f"![Every part of every claim by its distance to the rule](paper/{PICTURE})")
    parts.append(ranked_choices(runs))
    for notebook, run in runs.items():
        its, full = run["claims"], read_run(paper / notebook)["claims"]
        card = view(its, CARD) if of_record else verdict_table(rows(its, full=full), beside=True)
        found = "".join(f" {r['finds']} ({r['id']})" for r in its if r.get("headline") and r["finds"])
        parts += [f"## {notebook}", f"{summary(its)}.{found}", card, _details(its)]
    parts += [_revised(runs), _changes(runs)]
    return "\n\n".join(part for part in parts if part) + "\n"


def matrix(runs: Runs) -> str:
    """Return the overview in Markdown: notebooks by verdicts (theorems + experiments), then what is outside."""
    lines = []
    for notebook, run in runs.items():
        its = Counter((r["counts_as"], r["verdict"]) for r in run["claims"])
        both = [[its[kind, verdict] for kind in COUNTED] for verdict in VERDICTS]
        outside = [sum(its[kind, verdict] for verdict in VERDICTS) for kind in ASIDE]
        lines.append([notebook, *(f"{a} + {b}" if a + b else "" for a, b in both), *(n or "" for n in outside)])
    return "Theorems + experiments:\n\n" + table(["", *(f"{GLYPHS[v]} {v}" for v in VERDICTS), *ASIDE], lines)


def ranked_choices(runs: Runs) -> str:
    """Return a section in Markdown: the choices that the papers leave open, by how many claims each flips."""
    ranked = _ranking(r for run in runs.values() for r in run["claims"])
    lines = [[row.choice, f"{row.flips} of {row.of}", f"{row.share:.0%}"] for row in ranked.itertuples()]
    head = ["choice that the papers leave open", "claims that it flips"]
    head += ["pairs of interpretations that differ in it alone"]
    return "## What the papers leave open\n\n" + table(head, lines) if lines else ""


def _details(records: Sequence[Record]) -> str:
    lines = []
    for r in records:
        for name, part in r["parts"].items():
            cells = [part["is"], part["rule"], part.get("shown", "–"), part.get("state", "–")]
            played = r["in interpretations"] if r.get("interpretations", {}).get("part") == name else ""
            lines.append([r["id"], r["where"], r["kind"], *cells, played])
    head = ["", "in the paper", "kind", "part", "rule", "value [95 % interval]", "state", "interpretations"]
    what = {"sanity_check": "a sanity check", "substitute_data": "judged on substitute data"}
    notes = [f"- {r['id']} is {words}: {r[key]}" for key, words in what.items() for r in records if r.get(key)]
    return folded("Every part, with value and interval", table(head, lines), "\n".join(notes))


def folded(summary: str, *parts: str) -> str:
    """Return HTML that shows a summary, and the rest, paragraphs of Markdown, when it is opened."""
    return "\n\n".join([f"<details><summary>{summary}</summary>", *filter(None, parts), "</details>"])


def _revised(runs: Runs) -> str:
    """How many rules were revised after data were seen, and how many verdicts that moved up or down."""
    its = [(r["verdict"], r["revised"]["verdict"]) for run in runs.values() for r in run["claims"] if r.get("revised")]
    moves = [VERDICTS.index(before) - VERDICTS.index(now) for now, before in its if before in VERDICTS]
    text = f"Rules revised after data of this edition were seen: {len(its)}"
    moved = f"; verdicts that moved up: {sum(m > 0 for m in moves)}, down: {sum(m < 0 for m in moves)}"
    return f"{text}{moved if its else ''}."


def _changes(runs: Runs) -> str:
    changed = [r for run in runs.values() for r in run["claims"] if r["changes"]]
    moves = [(r["changes"][0]["then"], r["verdict"] if r["counts_as"] in COUNTED else OUTSIDE) for r in changed]
    moves = [(before if before in VERDICTS else OUTSIDE, now) for before, now in moves]
    ends = (*VERDICTS, OUTSIDE)
    before_now = [[b, *(str(moves.count((b, now)) or "") for now in ends)] for b in ends if b in dict(moves)]
    keys = ("was", "then", "why", "direction", "on_old_numbers")
    lines = [[r["id"], *(change[key] for key in keys), r["verdict"]] for r in changed for change in r["changes"]]
    head = ["", "rule before", "verdict before", "why it changed", "now", "new rule on old numbers", "verdict now"]
    tables = [table(["claims by verdict before (rows) and now", *ends], before_now), table(head, lines)]
    return "\n\n".join(["## Rules that changed after a full-scale run", *tables]) if changed else ""
