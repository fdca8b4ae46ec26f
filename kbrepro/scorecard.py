"""What came out, as records and as Markdown: one row a claim, one row a theorem."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import chain, repeat
from pathlib import Path
from typing import Any

from kbrepro import paths
from kbrepro.claims import (
    AGAIN,
    DEPENDS,
    KINDS,
    NOT,
    SOMETIMES,
    Claim,
    Theorem,
    judge,
    sentences_of,
)
from kbrepro.claims.tables import Kept

#: A claim or a theorem as claims.json has it.
Record = Mapping[str, Any]
VERDICTS = (AGAIN, NOT, DEPENDS, SOMETIMES)
#: A glyph a verdict, so that a table can be read without colour.
GLYPHS = dict(zip((*VERDICTS, "too few to say"), "●○◑◌◇", strict=True))
#: What stands above the sentences of a table; observations alone count.
HEADS = {
    "observation": "what the paper reports",
    "remark": "what the paper argues or cites (not counted)",
    "own question": "what we ask (not counted)",
}
MEANS = (
    "*96 of 100 reruns*: if the paper's own experiment were run again, at its own size, 96 of 100"
    " such reruns would print the sentence, if our implementation ran it: evidence neither on the"
    " authors' code or draws nor that the sentence is true. A *reading* is a choice that the paper"
    " leaves open. ● *comes out again*: at least 90 of 100 under every reading that counts. ○"
    " *does not*: at most 10. ◑ *depends*: the readings are at least 50 apart. ◌ *now and then*:"
    " otherwise."
)
#: Until an edition is frozen before it is played.
EXPLORATORY = (
    "**Exploratory.** The predicates were written knowing the trials, those of edition 0.3.0. Where"
    " each of its claims went, with the old verdict beside: "
    + ", ".join(f"[0{n}](../docs/old_claims/0{n}.md)" for n in range(1, 7))
    + ". [How claims are judged](../docs/claims.md)."
)


#: A notebook shows verdicts and readings, and writes all at its end.
judged = cache(judge)


@cache
def record_of(sentence: Claim | Theorem, kept: Kept) -> Record:
    """Return what came out for a claim or a theorem, as claims.json has it."""
    names = ("id", "kind", "where", "quote", "checked", "finding")
    said = {name: getattr(sentence, name, None) for name in names}
    record = {name: each for name, each in said.items() if each is not None}
    if isinstance(sentence, Theorem):
        checked = sentence.check(kept)
        return record | {"outcome": sentence.outcome or checked.outcome} | checked._asdict()
    result = judged(sentence, kept)
    effect = {**result.effect._asdict(), "shows": sentence.shows} if result.effect else None
    readings = [
        each._asdict() | {"probability": each.probability._asdict()} for each in result.readings
    ]
    record |= {
        "verdict": result.verdict,
        "depends_on": result.depends_on,
        "effect": effect,
        "readings": readings,
    }
    return record


def of_paper(paper: str, kept: Kept) -> dict[str, list[Record]]:
    """Return all claims and theorems of a paper's folder, judged by kept trials."""
    records = [record_of(each, kept) for each in sentences_of(paper)]
    return {
        name: [each for each in records if key in each]
        for name, key in (("claims", "verdict"), ("theorems", "outcome"))
    }


def rounded(now: Any, before: Any = None) -> Any:
    """Return what json has read, with numbers in six digits, or as they were `before` if they are
    within 1e-6 of that.

    Another processor changes last digits, and a number at the edge of rounding would turn with
    them.
    """
    if isinstance(now, dict):
        old = before if isinstance(before, dict) else {}
        return {key: rounded(its, old.get(key)) for key, its in now.items()}
    if isinstance(now, list):
        olds = chain(before if isinstance(before, list) else [], repeat(None))
        return [rounded(*pair) for pair in zip(now, olds, strict=False)]
    if not isinstance(now, float):
        return now
    middle, *edges = (float(f"{now * (1 + share):.6g}") for share in (0, -1e-6, 1e-6))
    return before if before in edges else middle


def read(results: Path) -> dict[str, dict[str, list[Record]]]:
    """Return the claims and theorems of every notebook under `results/<profile>`, by notebook."""
    files = sorted(results.glob("[0-9][0-9]_*/claims.json"))
    return {path.parent.name: paths.read_json(path) for path in files}


def page(runs: Mapping[str, Mapping[str, Sequence[Record]]]) -> str:
    """Return the page of every claim and theorem in Markdown, by notebook: results/README.md."""
    parts = ["# Every claim", EXPLORATORY, MEANS]
    for name, run in runs.items():
        parts += [f"## [{name[:2]}](../notebooks/{name}.ipynb)", totals(run["claims"])]
        for kind in KINDS:
            if rows := [each for each in run["claims"] if each["kind"] == kind]:
                parts += [f"### {kind.capitalize()}s", tables(rows, name)]
        if run["theorems"]:
            parts += ["### Theorems", tables(run["theorems"], name)]
    return "\n\n".join(parts) + "\n"


def totals(claims: Iterable[Record]) -> str:
    """Return how many observations of a paper have which verdict: `5 come out again, 1 does not,
    ...`.
    """
    n = Counter(each["verdict"] for each in claims if each["kind"] == "observation")
    shown = [verdict for verdict in GLYPHS if verdict in VERDICTS or n[verdict]]
    return ", ".join(f"{n[verdict]} {GLYPHS[verdict]} {verdict}" for verdict in shown)


def tables(records: Sequence[Record], notebook: str = "") -> str:
    """Return claims, a table a kind, then theorems, as Markdown; with `notebook` each id leads to
    its cell there.

    Every row has its id as an anchor.
    """
    parts = []
    for kind in KINDS:
        if rows := [_row(each, notebook) for each in records if each.get("kind") == kind]:
            parts.append(table([HEADS[kind], "our number", "does it come out again?"], rows))
    if rows := [_row(each, notebook) for each in records if "outcome" in each]:
        parts.append(table(["theorem", "what was checked", "outcome"], rows))
    return "\n\n".join(parts)


def lines(record: Record) -> list[str]:
    """Return a claim or a theorem for a terminal; the first line has the verdict, the others all
    numbers.
    """
    first = f"{record['id']:5} {_verdict(record)}: {_said(record)}"
    told = [first, *(f"      {part}" for part in (*_words(record), *_number(record)))]
    return [re.sub(r"\*|</?small>", "", line) for line in told]


def _row(record: Record, notebook: str) -> list[str]:
    """A claim or a theorem as three cells, so that a phone shows all: sentence, our number,
    verdict.
    """
    name = record["id"]
    cell = f"[{name}](../notebooks/{notebook}.ipynb#{name})" if notebook else f"**{name}**"
    how_often = "; ".join(_words(record))
    return [
        f'<a id="{name}"></a>{cell} {_said(record)}',
        "<br>".join(_number(record)),
        "<br>".join(part for part in (_verdict(record), how_often) if part),
    ]


def _said(record: Record) -> str:
    """The sentence, where it stands, and the finding that it shares with others."""
    own = record.get("kind") == "own question"
    said = record["quote"] if own else f"“{record['quote']}”"
    finding = f"; one finding: {record['finding']}" if record.get("finding") else ""
    return f"{said} ({record['where']}{finding})"


def _verdict(record: Record) -> str:
    if "outcome" in record:
        return f"**{record['outcome']}**"
    on = f" on {' and '.join(record['depends_on'])}" if record["depends_on"] else ""
    return f"{GLYPHS[record['verdict']]} **{record['verdict']}**{on}"


def _number(record: Record) -> list[str]:
    """Our number, then the trials behind it in small print; of a theorem, what was checked."""
    if "outcome" in record:
        return [record["checked"]]
    main = record["readings"][0]
    kept = f"<small>{main['kept']} kept, {main['drawn']} a rerun</small>"
    if not (effect := record["effect"]):
        return [kept]
    low, high = _short(effect["low"]), _short(effect["high"])
    interval = f" ({low} to {high})" if low != high else ""
    return [f"**{_short(effect['value'])}**{interval}: {effect['shows']}", kept]


def _words(record: Record) -> list[str]:
    """How often a claim comes out: under the main reading, and under those others that differ from
    it; how near to its bound a theorem came.
    """
    if "outcome" in record:
        return _room(record)
    main, *others = record["readings"]
    probability = main["probability"]
    here = probability["value"]
    ends = [f"{100 * probability[end]:.0f}" for end in ("low", "high")]
    interval = f" ({' to '.join(ends)})" if ends[0] != ends[1] else ""
    name = "main reading: " if others else ""
    told = [f"{name}{_of_100(here)} reruns{interval}"]
    apart: dict[tuple[str, str, str], list[str]] = {}
    for each in others:
        there = each["probability"]["value"]
        if abs(there - here) >= 0.005:
            case = (each["choice"], _of_100(there), each["excluded_by"])
            apart.setdefault(case, []).append(f"*{each['value']}*")
    for (choice, often, excluded), values in apart.items():
        clause = f" (does not count: {excluded})" if excluded else ""
        told.append(f"{choice} {_listed(values)}: {often}{clause}")
    if same := len(others) - sum(map(len, apart.values())):
        told.append(f"{same} other reading{'s' * (same > 1)}: the same")
    return told


def _of_100(share: float) -> str:
    """A share as `96 of 100`; 0 and 100 are none and all."""
    if 0 < share < 0.005:
        return "under 1 of 100"
    if 0.995 <= share < 1:
        return "over 99 of 100"
    return f"{100 * share:.0f} of 100"


def _listed(values: Sequence[str]) -> str:
    """`a, b or c`."""
    *first, last = values
    return f"{', '.join(first)} or {last}" if first else last


def _room(record: Record) -> list[str]:
    """How near to its bound a theorem came."""
    if record["room"] != record["room"] or not record["runs"]:
        return []
    return [
        f"room: {_short(record['room'])} of the bound"
        if record["room"] >= 1e-3
        else "room: under 0.001 of the bound"
    ]


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table; cells may not contain line ends."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(
        "| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines
    )


def _short(number: float) -> str:
    """Two digits, and all those before the point."""
    return f"{number:,.0f}" if 10 <= abs(number) < 1e6 else f"{number:.2g}"
