"""What the runs found, in words and tables: at a glance, verdict tables, the scorecard. Generated, never typed."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from kbrepro.verdicts import readings
from kbrepro.verdicts.claims import VERDICTS

#: A glyph a verdict, so that a table can be read without colour.
GLYPHS = dict(zip(VERDICTS, ("●", "◐", "◌", "○", "–"), strict=True))
COUNTED = ("theorem", "experiment")
ASIDE = ("weak", "stand-in", "probe")
ASIDE_MEANS = dict(
    zip(ASIDE, ("they could hardly fail", "other data than the paper's", "our own questions"), strict=True)
)
OUTSIDE = "outside the totals"
FULL_SCALE = "paper"
#: The picture of all parts, beside the full-scale runs.
PICTURE = "all_parts.png"

LEGEND = (
    "A part of a claim holds if its whole 95 % interval meets the rule, fails if none of it does, and is undecided "
    "otherwise. ● reproduced: all parts hold. ◐ partly: some hold, some fail. ◌ undecided: none fails, some are open. "
    "○ not reproduced: some fail, none holds. – not evaluated: the run lacked what the claim needs, or a control "
    "failed. Outside the totals: *weak* (could hardly fail), *stand-in* (other data than the paper's), *probe* (a "
    "question of our own)."
)


# Reading what runs left


def read_run(folder: Path) -> dict[str, Any]:
    """Return what `claims.json` of one run holds: `rules`, `expected`, `claims`; empty if there is none."""
    path = folder / "claims.json"
    if not path.is_file():
        return {"rules": "", "expected": [], "claims": []}
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        where = "/".join(path.parts[-4:])
        raise ValueError(f"{where} cannot be read ({error}): restore it, or run the notebook again") from None


def read(results: Path) -> dict[str, dict[str, Any]]:
    """Return `read_run` of every notebook under a results folder (`results/<profile>`), by notebook."""
    folders = sorted(path.parent for path in results.glob("[0-9][0-9]_*/claims.json"))
    return {folder.name: read_run(folder) for folder in folders if not folder.name.endswith(".partial")}


# In words


def summary(records: Sequence[Mapping[str, Any]]) -> str:
    """Return the count of every verdict among what counts, then what stands outside: '5 reproduced; 1 probe'."""
    counted = [r["verdict"] for r in records if r["counts_as"] in COUNTED]
    inside = [f"{counted.count(v)} {v}" for v in VERDICTS if v in counted]
    aside = [r["counts_as"] for r in records if r["counts_as"] in ASIDE]
    outside = [f"{aside.count(kind)} {kind}" for kind in ASIDE if kind in aside]
    return ", ".join(inside) + ("; outside the totals " + ", ".join(outside) if outside else "")


def glance(records: Sequence[Mapping[str, Any]], notebook: str) -> str:
    """Return a few lines of Markdown: verdicts by kind, headline, what failed, which open choices decide."""
    if not records:
        return f"*No full-scale run of {notebook} is here: `kbrepro reproduce {notebook[:2]} --profile {FULL_SCALE}`.*"
    lines = []
    for kind, name in (("theorem", "Theorems"), ("experiment", "Experiments")):
        its = [r["verdict"] for r in records if r["counts_as"] == kind]
        if its:
            counts = ", ".join(f"{its.count(v)} {v}" for v in VERDICTS if v in its)
            lines.append(f"- **{name}** ({len(its)}): {counts}.")
    aside = {kind: sum(r["counts_as"] == kind for r in records) for kind in ASIDE}
    told = [f"{n} {kind} ({ASIDE_MEANS[kind]})" for kind, n in aside.items() if n]
    lines += [f"- **Outside the totals**: {', '.join(told)}."] if told else []
    headlines = [r for r in records if r.get("headline") and r["finds"]]
    lines += [
        f"- **Headline** ({r['id']}, {r['verdict']}): {r['finds']}" + f" ({why(r)})" * bool(why(r)) for r in headlines
    ]
    for verdict in ("not reproduced", "partly", "undecided"):
        its = [r for r in records if r["verdict"] == verdict and r["counts_as"] in COUNTED and r not in headlines]
        said = [f"*{r['says'].rstrip('.')}* ({r['id']}" + (f": {why(r)})" if why(r) else ")") for r in its]
        lines += [f"- **{verdict.capitalize()}**: {'; '.join(said)}."] if said else []
    lines += [f"- **What the paper leaves open**: {text}" for text in [_deciding_choices(records)] if text]
    return "\n".join(lines)


def why(record: Mapping[str, Any]) -> str:
    """Return the note of a record, else the readings that decide it, else nothing."""
    return record.get("note") or record.get("deciding") or ""


def _deciding_choices(records: Iterable[Mapping[str, Any]]) -> str:
    played = {r["id"]: r["readings"]["flips"] for r in records if r.get("readings")}
    table = readings.ranking(played).sort_values("share", ascending=False)
    strong = [f"{row.choice} {row.share:.0%}" for row in table.itertuples() if row.flips]
    means = (
        "of every two readings that differ in one choice alone, the share of which one lets the claim hold and one not"
    )
    return f"{means}: {', '.join(strong)}." if strong else ""


# Tables


def verdict_table(records: Sequence[Mapping[str, Any]], beside: Mapping[str, Mapping[str, Any]] | None = None) -> str:
    """Return Markdown: says, finds, rule, verdict of each record; with `beside` the full-scale verdict too."""
    head = ["", "the paper says", "this run finds", "rule", "verdict"]
    if beside is not None:
        head.append("at full scale")
    rows = []
    for r in records:
        row = [r["id"], r["says"], _found(r), rules_of(r), verdict_of(r)]
        if beside is not None:
            full = beside.get(r["id"])
            row.append(f"{verdict_of(full)}: {full['finds']}" if full and full["finds"] else "no run is here")
        rows.append(row)
    return table(head, rows)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table; bars and line ends in cells are taken care of."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(_cell(cell) for cell in line) + " |" for line in lines)


def _cell(text: Any) -> str:
    return " ".join(str(text).split()).replace("|", "\\|")


def verdict_of(record: Mapping[str, Any]) -> str:
    """Return glyph and verdict of a record, where it counts if outside the totals, and whether its rule was revised."""
    aside = f" ({record['counts_as']})" if record["counts_as"] in ASIDE else ""
    revised = record.get("revised", {})
    before = f" (*revised after seeing data*; by the rule before: {revised['verdict']})" if revised else ""
    return f"{GLYPHS.get(record['verdict'], '')} **{record['verdict']}**{aside}{before}".strip()


def rules_of(record: Mapping[str, Any]) -> str:
    """Return what every part is and its rule, in words; parts that are "the same" of another thing share their line."""
    lines: list[list[str]] = []
    for part in record["parts"].values():
        flags = [name for name in ("control", "probe") if part.get(name)]
        flags += [part["reading"]] if part.get("reading") else []
        same = part["is"].startswith("the same") and lines and lines[-1][1] == part["rule"]
        named = ", ".join([part["is"].removeprefix("the same").strip(", "), *flags]).strip(", ")
        if same:
            lines[-1][2] += f"; {named}" if named else ""
        else:
            lines.append([part["is"], part["rule"], ", ".join(flags)])
    return "; ".join(f"{what}: {rule}" + (f" ({names.strip('; ')})" if names else "") for what, rule, names in lines)


def _found(record: Mapping[str, Any]) -> str:
    if record["verdict"] == "not evaluated":
        return f"*{record['note']}*"
    return record["finds"] + (f" ({record['note']})" if record["note"] else "")


def for_terminal(runs: Mapping[str, Mapping[str, Any]], width: int = 100) -> str:
    """Return every claim in lines of at most `width` characters: verdict, what the paper says, what the run finds."""
    lines = []
    for notebook, run in runs.items():
        lines += ["", notebook, summary(run["claims"])]
        for r in run["claims"]:
            aside = f" ({r['counts_as']})" if r["counts_as"] in ASIDE else ""
            lines.append(f"  {r['id']}  {GLYPHS.get(r['verdict'], '')} {r['verdict']}{aside}")
            for text in (r["says"], f"-> {_found(r).strip('*')}"):
                lines += textwrap.wrap(text, max(width, 40), initial_indent=" " * 7, subsequent_indent=" " * 7)
    return "\n".join(lines).lstrip("\n")


# The scorecard


def scorecard(root: Path, results: Path | None = None) -> str:
    """Return the scorecard in Markdown: every claim of a results folder, by default of the full-scale runs."""
    paper = root / "results" / FULL_SCALE
    runs, full = read(results or paper), read(paper)
    beside = {r["id"]: r for run in full.values() for r in run["claims"]}
    of_record = results is None or results == paper
    parts = ["# Scorecard", LEGEND, matrix(runs)]
    if (paper / PICTURE).is_file() and of_record:
        parts.append(f"![Every part of every claim by its distance to the rule](paper/{PICTURE})")
    parts += [ranked] if (ranked := ranked_choices(runs)) else []
    for notebook, run in runs.items():
        rows = _card(run["claims"]) if of_record else verdict_table(run["claims"], beside)
        found = "".join(f" {r['finds']} ({r['id']})" for r in run["claims"] if r.get("headline") and r["finds"])
        parts += [f"## {notebook}", f"{summary(run['claims'])}.{found}", rows]
        parts += [_details(run["claims"])]
    parts += [_revised(runs), _changes(runs)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _of_halves(record: Mapping[str, Any]) -> str:
    """The verdicts on even and on odd trials beside that on all; a dash where there are too few."""
    its = record.get("halves", [])
    return ", ".join("same" if half == record["verdict"] else f"{GLYPHS[half]} {half}" for half in its) or "–"


def _card(records: Sequence[Mapping[str, Any]]) -> str:
    head = ["", "the paper says", "we find", "rule", "verdict", "readings", "either half"]
    rows = []
    for r in records:
        of_readings = r.get("readings", {}).get("sentence", "")
        rows.append([r["id"], r["says"], _found(r), rules_of(r), verdict_of(r), of_readings, _of_halves(r)])
    return table(head, rows)


def matrix(runs: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the overview in Markdown: notebooks by verdicts (theorems + experiments), then what is outside."""
    head = ["", *(f"{GLYPHS[v]} {v}" for v in VERDICTS), *ASIDE]
    rows = []
    for notebook, run in runs.items():
        its = run["claims"]
        row = [notebook]
        for verdict in VERDICTS:
            counts = [sum(r["verdict"] == verdict and r["counts_as"] == kind for r in its) for kind in COUNTED]
            row.append(f"{counts[0]} + {counts[1]}" if any(counts) else "")
        row += [str(sum(r["counts_as"] == kind for r in its) or "") for kind in ASIDE]
        rows.append(row)
    return "Theorems + experiments:\n\n" + table(head, rows)


def ranked_choices(runs: Mapping[str, Mapping[str, Any]]) -> str:
    """Return a section in Markdown: the choices that the papers leave open, by how many claims each flips."""
    played = {r["id"]: r["readings"]["flips"] for run in runs.values() for r in run["claims"] if r.get("readings")}
    rows = [
        [row.choice, f"{row.flips} of {row.of}", f"{row.share:.0%}"] for row in readings.ranking(played).itertuples()
    ]
    head = ["choice that the papers leave open", "claims that it flips", "pairs of readings that differ in it alone"]
    return "## What the papers leave open\n\n" + table(head, rows) if rows else ""


def _details(records: Sequence[Mapping[str, Any]]) -> str:
    rows = []
    for r in records:
        played = r.get("readings", {})
        for name, part in r["parts"].items():
            found = [part.get("shown", "–"), part.get("state", "–")]
            of_readings = played["sentence"] if played.get("part") == name else ""
            rows.append([r["id"], r["where"], r["kind"], part["is"], part["rule"], *found, of_readings])
    if not rows:
        return ""
    head = ["", "in the paper", "kind", "part", "rule", "value [95 % interval]", "state", "readings"]
    weak = [f"- {r['id']} is weak: {r['weak']}" for r in records if r.get("weak")]
    weak += [f"- {r['id']} is a stand-in: {r['stand_in']}" for r in records if r.get("stand_in")]
    body = table(head, rows) + ("\n\n" + "\n".join(weak) if weak else "")
    return f"<details><summary>Every part, with value and interval</summary>\n\n{body}\n\n</details>"


def _revised(runs: Mapping[str, Mapping[str, Any]]) -> str:
    """How many rules were revised after data were seen, and how many verdicts that moved up or down."""
    its = [(r["verdict"], r["revised"]["verdict"]) for run in runs.values() for r in run["claims"] if r.get("revised")]
    order = {verdict: place for place, verdict in enumerate(reversed(VERDICTS))}
    moves = [order[now] - order[before] for now, before in its if before in order]
    text = f"Rules revised after data of this edition were seen: {len(its)}"
    moved = f"; verdicts that moved up: {sum(m > 0 for m in moves)}, down: {sum(m < 0 for m in moves)}"
    return f"{text}{moved if its else ''}."


def _changes(runs: Mapping[str, Mapping[str, Any]]) -> str:
    changed = [r for run in runs.values() for r in run["claims"] if r["changes"]]
    if not changed:
        return ""
    moves = [(r["changes"][0]["then"], r["verdict"] if r["counts_as"] in COUNTED else OUTSIDE) for r in changed]
    moves = [(before if before in VERDICTS else OUTSIDE, now) for before, now in moves]
    ends = (*VERDICTS, OUTSIDE)
    before_now = [[b, *(moves.count((b, now)) or "" for now in ends)] for b in ends if b in dict(moves)]
    rows = [
        [r["id"], c["was"], c["then"], c["why"], c["direction"], c["on_old_numbers"], r["verdict"]]
        for r in changed
        for c in r["changes"]
    ]
    head = ["", "rule before", "verdict before", "why it changed", "now", "new rule on old numbers", "verdict now"]
    tables = [table(["claims by verdict before (rows) and now", *ends], before_now), table(head, rows)]
    return "\n\n".join(["## Rules that changed after a full-scale run", *tables])
