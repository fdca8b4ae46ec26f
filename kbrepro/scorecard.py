"""What came out, as records and as Markdown: one row a claim, one row a theorem."""

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
GLYPHS = dict(zip(VERDICTS, ("●", "○", "◑", "◌"), strict=True))
MEANS = (
    "The number is the share of reruns of the paper's own experiment, at its own size, that would"
    " print the sentence, if our implementation ran it: evidence neither on the authors' code or"
    " draws nor that the sentence is true. ● *comes out again*: at least 0.9 under every reading"
    " that counts. ○ *does not*: at most 0.1. ◑ *depends*: the readings are at least 0.5 apart. ◌"
    " *now and then*: otherwise."
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
    names = [
        name for name in ("id", "kind", "where", "quote", "checked") if hasattr(sentence, name)
    ]
    record = {name: getattr(sentence, name) for name in names}
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
                parts += [f"### {kind.capitalize()}s", tables(rows)]
        if run["theorems"]:
            parts += ["### Theorems", tables(run["theorems"])]
    return "\n\n".join(parts) + "\n"


def totals(claims: Iterable[Record]) -> str:
    """Return how many observations of a paper have which verdict: `5 come out again, 1 does not,
    ...`.
    """
    n = Counter(each["verdict"] for each in claims if each["kind"] == "observation")
    return ", ".join(f"{n[verdict]} {GLYPHS[verdict]} {verdict}" for verdict in VERDICTS)


def tables(records: Sequence[Record]) -> str:
    """Return claims, then theorems, as Markdown tables."""
    theorems = [each for each in records if "outcome" in each]
    claims = [each for each in records if "verdict" in each]
    asked = (
        "our question"
        if all(each["kind"] == "own question" for each in claims)
        else "what the paper says"
    )
    parts = (
        [table(["", asked, "printed again", "verdict", "our number"], map(_cells, claims))]
        if claims
        else []
    )
    if theorems:
        parts.append(table(["", "theorem", "checked", "outcome", "room"], map(_cells, theorems)))
    return "\n\n".join(parts)


def lines(record: Record) -> list[str]:
    """Return a claim or a theorem for a terminal; the first line has the verdict, the others all
    numbers.
    """
    name, said, *cells, verdict, last = _cells(record)
    parts = [part for cell in (*cells, last) for part in cell.split("<br>") if part]
    return [
        line.replace("**", "")
        for line in (f"{name:5} {verdict}: {said}", *(f"      {part}" for part in parts))
    ]


def _cells(record: Record) -> list[str]:
    """A claim or a theorem as the cells of its row: id, sentence, numbers, verdict, our number."""
    said = record["quote"] if record.get("kind") == "own question" else f"“{record['quote']}”"
    row = [record["id"], f"{said} ({record['where']})"]
    if "outcome" in record:
        return [*row, record["checked"], f"**{record['outcome']}**", _room(record)]
    on = f" on {' and '.join(record['depends_on'])}" if record["depends_on"] else ""
    return [
        *row,
        _numbers(record),
        f"{GLYPHS[record['verdict']]} **{record['verdict']}**{on}",
        _effect(record),
    ]


def _room(record: Record) -> str:
    """How near to its bound a theorem came."""
    if record["room"] != record["room"] or not record["runs"]:
        return ""
    return (
        f"{_short(record['room'])} of the bound"
        if record["room"] >= 1e-3
        else "under 0.001 of the bound"
    )


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table; cells may not contain line ends."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(
        "| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines
    )


def _numbers(record: Record) -> str:
    """The replication probability under the main reading, and under those others that differ from
    it.
    """
    main, *others = record["readings"]
    text = f"**{main['probability']['value']:.2f}**"
    if main["probability"]["low"] < main["probability"]["high"]:
        text += f" ({main['probability']['low']:.2f} to {main['probability']['high']:.2f})"
    differ = [
        each
        for each in others
        if abs(each["probability"]["value"] - main["probability"]["value"]) >= 0.005
    ]
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
