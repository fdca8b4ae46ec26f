"""What came out, as records and as Markdown: one row a claim, one row a theorem."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from kbrepro.claims import AGAIN, DEPENDS, NOT, SOMETIMES, Judged, Theorem, claims_of, judge, theorems_of
from kbrepro.claims.tables import Kept

#: A claim or a theorem as claims.json has it.
Record = Mapping[str, Any]
VERDICTS = (AGAIN, NOT, DEPENDS, SOMETIMES)
#: A glyph a verdict, so that a table can be read without colour.
GLYPHS = dict(zip(VERDICTS, ("●", "○", "◑", "◌"), strict=True))
MEANS = (
    "The number is the share of reruns of the paper's own experiment, at its own size, that would print the sentence, "
    "if our implementation ran it: evidence neither on the authors' code or draws nor that the sentence is true. "
    "● *comes out again*: at least 0.9 under every reading that counts. ○ *does not*: at most 0.1. ◑ *depends*: the "
    "readings are at least 0.5 apart. ◌ *now and then*: otherwise."
)


def of_claim(judged: Judged) -> dict[str, Any]:
    """Return what came out for a claim as claims.json has it."""
    claim, effect = judged.claim, judged.effect
    record: dict[str, Any] = {"id": claim.id, "kind": claim.kind, "where": claim.where, "quote": claim.quote}
    record |= {"verdict": judged.verdict, "depends_on": judged.depends_on}
    record["effect"] = {**effect._asdict(), "shows": claim.shows} if effect else None
    record["readings"] = [each._asdict() | {"probability": each.probability._asdict()} for each in judged.readings]
    return record


def of_theorem(theorem: Theorem, kept: Kept) -> dict[str, Any]:
    """Return what was checked of a theorem, and what came out."""
    checked = theorem.check(kept)
    record = {"id": theorem.id, "where": theorem.where, "quote": theorem.quote, "checked": theorem.checked}
    return record | {"outcome": checked.outcome} | checked._asdict()


def of_paper(paper: str, kept: Kept, known: Mapping[str, Record] | None = None) -> dict[str, list[Record]]:
    """Return all claims and theorems of a paper's folder, judged by kept trials; `known`, by id, are judged already."""
    known = known or {}
    claims = [known.get(each.id) or of_claim(judge(each, kept)) for each in claims_of(paper)]
    return {"claims": claims, "theorems": [known.get(each.id) or of_theorem(each, kept) for each in theorems_of(paper)]}


def read(results: Path) -> dict[str, dict[str, list[Record]]]:
    """Return the claims and theorems of every notebook under `results/<profile>`, by notebook."""
    files = sorted(results.glob("[0-9][0-9]_*/claims.json"))
    return {path.parent.name: json.loads(path.read_text(encoding="utf-8")) for path in files}


def tables(claims: Sequence[Record], theorems: Sequence[Record] = ()) -> str:
    """Return claims and theorems as Markdown tables."""
    rows = [[each["id"], _says(each), _numbers(each), mark(each), _effect(each)] for each in claims]
    asked = "our question" if all(each["kind"] == "own question" for each in claims) else "what the paper says"
    parts = [table(["", asked, "printed again", "verdict", "our number"], rows)] if rows else []
    if theorems:
        rows = [[each["id"], _says(each), each["checked"], f"**{each['outcome']}**", room(each)] for each in theorems]
        parts.append(table(["", "theorem", "checked", "outcome", "room"], rows))
    return "\n\n".join(parts)


def mark(record: Record) -> str:
    """Return glyph and verdict of a claim, and on what it depends, in Markdown."""
    on = f" on {' and '.join(record['depends_on'])}" if record["depends_on"] else ""
    return f"{GLYPHS[record['verdict']]} **{record['verdict']}**{on}"


def room(record: Record) -> str:
    """Return how near to its bound a theorem came, as text."""
    if record["room"] != record["room"] or not record["runs"]:
        return ""
    return f"{_short(record['room'])} of the bound" if record["room"] >= 1e-3 else "under 0.001 of the bound"


def totals(claims: Iterable[Record]) -> str:
    """Return how many observations of a paper have which verdict: `5 come out again, 1 does not, ...`."""
    n = Counter(each["verdict"] for each in claims if each["kind"] == "observation")
    return ", ".join(f"{n[verdict]} {GLYPHS[verdict]} {verdict}" for verdict in VERDICTS)


def line(record: Record) -> str:
    """Return a claim or a theorem as one line for a terminal."""
    if "outcome" in record:
        return f"  {record['id']:5} {record['outcome']:40} {record['checked']}"
    number = record["readings"][0]["probability"]["value"]
    return f"  {record['id']:5} {number:.2f} {GLYPHS[record['verdict']]} {record['verdict']:16} {record['quote']}"


def in_full(record: Record) -> str:
    """Return all of a claim or a theorem for a terminal: quote, numbers under every reading, verdict, our number."""
    lines = [f"{record['id']} ({record['where']}): {record['quote']}"]
    if "outcome" in record:
        return "\n".join([*lines, f"  checked: {record['checked']}", f"  {record['outcome']} {room(record)}".rstrip()])
    for each in record["readings"]:
        name = f"{each['choice']}: {each['value']}" if each["choice"] else "as we read it"
        out = f" (does not count: {each['excluded_by']})" if each["excluded_by"] else ""
        low, value, high = (each["probability"][end] for end in ("low", "value", "high"))
        lines.append(
            f"  {value:.2f} ({low:.2f} to {high:.2f}), {each['kept']} kept, {each['drawn']} a rerun: {name}{out}"
        )
    on = f" on {' and '.join(record['depends_on'])}" if record["depends_on"] else ""
    return "\n".join([*lines, f"  {record['verdict']}{on}. {_effect(record)}"])


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table; cells may not contain line ends."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def _says(record: Record) -> str:
    said = record["quote"] if record.get("kind") == "own question" else f"“{record['quote']}”"
    return f"{said} ({record['where']})"


def _numbers(record: Record) -> str:
    """The replication probability under the main reading, and under those others that differ from it."""
    main, *others = record["readings"]
    text = f"**{main['probability']['value']:.2f}**"
    if main["probability"]["low"] < main["probability"]["high"]:
        text += f" ({main['probability']['low']:.2f} to {main['probability']['high']:.2f})"
    differ = [each for each in others if abs(each["probability"]["value"] - main["probability"]["value"]) >= 0.005]
    for each in differ:
        out = f", excluded: {each['excluded_by']}" if each["excluded_by"] else ""
        text += f"<br>{each['probability']['value']:.2f} {each['value']} ({each['choice']}{out})"
    if same := len(others) - len(differ):
        text += f"<br>the same under {same} other reading{'s' * (same > 1)}"
    return text + f"<br>{main['kept']} kept, {main['drawn']} a rerun"


def _effect(record: Record) -> str:
    if not (effect := record["effect"]):
        return ""
    low, high = _short(effect["low"]), _short(effect["high"])
    interval = f" ({low} to {high})" if low != high else ""
    return f"{effect['shows']}: {_short(effect['value'])}{interval}"


def _short(number: float) -> str:
    """Two digits, and all those before the point."""
    return f"{number:,.0f}" if 10 <= abs(number) < 1e6 else f"{number:.2g}"
