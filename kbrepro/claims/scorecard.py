"""What came out, as records and as Markdown: one row a claim, one row a theorem."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain, zip_longest
from pathlib import Path
from string import ascii_lowercase
from textwrap import shorten
from typing import Any

from kbrepro import paths
from kbrepro.claims.digests import digest, frozen
from kbrepro.claims.judging import (
    AGAIN,
    CROSS,
    NOT,
    SOMETIMES,
    TOO_FEW,
    Claim,
    Judged,
    Reading,
    Theorem,
    conjunction,
    held_at_once,
    judge,
    sentences_of,
)
from kbrepro.claims.replication import ONE_PLAY
from kbrepro.claims.tables import Kept

#: A claim or a theorem as claims.json has it.
Row = dict[str, Any]
#: A paper, as its claims.json has it: claims, theorems, findings, the choices that it leaves open,
#: and what comes out at once.
Card = dict[str, list[Row]]
VERDICTS = (AGAIN, NOT, SOMETIMES, TOO_FEW)
#: A glyph a verdict, so that a table can be read without colour.
GLYPHS = dict(zip(VERDICTS, "●○◌◇", strict=True))
#: Of several sentences.
PLURALS = dict(zip(VERDICTS, ("come out again", "do not", SOMETIMES, TOO_FEW), strict=True))
#: The head of a table of each kind; observations alone count.
OURS = "our number", "does it come out again?"
HEADS = {
    "observation": ["what the paper reports", *OURS],
    "remark": ["what the paper argues or cites (not counted)", *OURS],
    "own question": ["what we ask (not counted)", *OURS],
    "theorem": ["theorem", "what was checked", "outcome"],
}
MEANS = (
    "*96 of 100 reruns*: if the paper's experiment were run again 100 times, at its own size, 96"
    " reruns would support the sentence. This holds for our implementation: it is no evidence about"
    " the authors' code or draws, nor that the sentence is true. ● *comes out again*: at least 90"
    " of 100 under our main interpretation. ○ *does not*: at most 10. ◌ *now and then*: between. ◇"
    " *too few*: fewer than eight stored trials, or none as the paper describes. An"
    " *interpretation* is a choice that the paper leaves open. It counts if a source names it and"
    " no sentence of the paper excludes it. *Depends on X: k of N agree*: X moves the number"
    " across 50 of 100, and k of the N interpretations that count lie on the side of the main one."
    " *Under every interpretation*: all N do, though some may earn another verdict."
    " *Uncertain*: the 95 % interval of the number crosses the limit of its verdict. *Not rerun*:"
    " the paper names the rows of data that it plays, and we played each of them once."
)
#: What a claims.json has.
PARTS = {"claims", "theorems", "findings", "choices", "at_once"}
#: A row of a table is no sentence: it stands without quotation marks.
ROW = "Row of Table"
#: What an edition is, whatever was played of it.
KNOWING = (
    "We wrote all criteria knowing results of edition 0.3.0, and changed criteria, or what counts,"
    " 146 times: 36 times towards the paper, 25 away from it, 85 neither"
    " ([each change](changed_claims.csv)). For *edition 1.0* a program froze the criteria of all"
    " papers, drew new random numbers, and plays each paper once. New random numbers guard against"
    " luck, not against chosen criteria. Rows of sensor data are the same. This is no"
    " preregistration. [How claims are judged](../docs/claims.md)."
)
#: Of results that were played before criteria were frozen.
EXPLORATORY = "0.3.0"
BEFORE = (
    f"Edition {EXPLORATORY}, exploratory: its criteria were written knowing its trials. Those of"
    " edition 1.0 are frozen, but not played."
)
FROZEN = "Edition {edition}: criteria were frozen on {on}, before its trials were played."
CAPTION = (
    "*A row is a sentence. Its dot shows how many of 100 reruns support it under our main"
    " interpretation; its line spans all interpretations that count. A hollow dot is uncertain,"
    " or has too few trials; a square was not rerun.*"
)
#: The head of the index.
INDEX = ["sentence", "of 100 reruns", "what came out"]
#: At the head of a notebook's page.
LINKS = (
    "[notebook](../../notebooks/{}.ipynb) · [every claim](../README.md)"
    " · [how to read it](../../docs/claims.md)"
)
#: The heads of the details of a notebook's page.
AT_ONCE = [
    "interpretation",
    "9 of 10 reruns support together",
    "a rerun supports on average",
    "the others",
]
OPEN = ["what the paper leaves open", "main interpretation", "counts, too", "shown alone"]
#: Mark of a sentence that is not as it was frozen.
CHANGED = " *(changed after results were seen)*"
#: Small print that fewer rows share stands in each of them.
SHARED = 3


#: A notebook shows verdicts and readings, and writes all at its end.
judged = cache(judge)


@cache
def record_of(sentence: Claim | Theorem, kept: Kept) -> Row:
    """Return what came out for a claim or a theorem, as claims.json has it."""
    changed = {}
    if kept.edition:
        before = kept.edition["sentences"].get(sentence.id)
        changed["changed"] = frozen(sentence) != before
    if isinstance(sentence, Theorem):
        checked = sentence.check(kept)
        record = _parts(sentence, "id", "where", "statement", "corrected", "checked")
        record |= {"outcome": sentence.outcome_of(checked)}
        return record | checked._asdict() | changed
    record = _parts(sentence, "id", "kind", "where", "quote", "finding")
    result = judged(sentence, kept)
    effect = {**result.effect._asdict(), "shows": sentence.shows} if result.effect else None
    record |= {"predicate": digest(sentence.predicate), "effect": effect}
    return record | _outcomes(result, result.readings) | changed


def _parts(sentence: Claim | Theorem, *names: str) -> Row:
    """Some attributes of a claim or a theorem, by name."""
    return {name: getattr(sentence, name) for name in names}


def of_paper(paper: str, kept: Kept) -> Card:
    """Return all claims and theorems of a paper's folder, judged by kept trials; its findings, and
    which sentences come out at once.
    """
    sentences = sentences_of(paper)
    records = [record_of(sentence, kept) for sentence in sentences]
    run = {
        "claims": [record for record in records if "verdict" in record],
        "theorems": [record for record in records if "outcome" in record],
    }
    claims = [one for one in sentences if isinstance(one, Claim)]
    counted = [claim for claim in claims if claim.kind == "observation"]
    groups: dict[str, list[Claim]] = {}
    for claim in counted:
        groups.setdefault(claim.finding or claim.id, []).append(claim)
    run["findings"] = [_finding(group, kept) for group in groups.values()]
    run["choices"] = _choices(claims, kept)
    if kept.edition:
        run["edition"] = _edition(kept.edition, records)
    if held := paths.facts_of(kept.folder, paths.RERUN):
        run["rerun"] = [held]
    enough = [claim for claim in counted if judged(claim, kept).verdict.word != TOO_FEW]
    run["at_once"] = [line._asdict() for line in held_at_once(enough, kept)] if enough else []
    return run


def _edition(frozen_before: Row, records: Sequence[Row]) -> list[Row]:
    """Which edition it is, when and why it was frozen, and which sentences were changed or left out
    since.
    """
    is_changed = {record["id"]: record["changed"] for record in records}
    for name in frozen_before["sentences"]:
        is_changed.setdefault(name, True)
    changed = [name for name, is_other in is_changed.items() if is_other]
    edition = {"edition": frozen_before["edition"], "changed": changed}
    return [edition | freeze for freeze in frozen_before["frozen"]]


def _finding(group: Sequence[Claim], kept: Kept) -> Row:
    """What came out for claims that are one finding: that all hold at once."""
    result = judge(conjunction(group), kept) if len(group) > 1 else judged(group[0], kept)
    return {"ids": [claim.id for claim in group]} | _outcomes(result, result.readings[:1])


def _choices(claims: Sequence[Claim], kept: Kept) -> list[Row]:
    """Every value of every choice that the tables of claims have, with its source and clause."""
    rows: dict[tuple[str, str], Row] = {}
    counted = set()
    for claim in claims:
        main, *others = judged(claim, kept).readings
        counted |= {(other.choice, other.value) for other in others if other.counts(main)}
    for table in chain.from_iterable(map(Claim.tables, claims)):
        clauses = table.clauses(kept)
        for choice, values in table.readings.items():
            for value in values:
                row = {
                    "choice": choice,
                    "value": value,
                    "main": value == next(iter(values)),
                    "counts": (choice, value) in counted,
                    "source": table.sources.get(value, ""),
                    "excluded_by": clauses.get(value, ""),
                }
                rows.setdefault((choice, value), row)
    return [*rows.values()]


def _outcomes(result: Judged, readings: Sequence[Reading]) -> Row:
    """A verdict and the numbers of readings, as claims.json has them."""
    return {
        "verdict": result.verdict.word,
        "depends_on": result.verdict.depends_on,
        "agree": result.verdict.agree,
        "counted": result.verdict.counted,
        "uncertain": result.verdict.uncertain,
        "not_played": result.not_played,
        "readings": [
            reading._asdict()
            | {
                "probability": reading.probability._asdict(),
                "counts": reading.counts(result.readings[0]),
            }
            for reading in readings
        ],
    }


def rounded(now: object, before: object = None) -> object:
    """Return mappings and lists with numbers in six digits, or as they were `before` if they are
    within 1e-6 of that.

    Another processor changes last digits, and a number at the edge of rounding would turn with
    them.
    """
    if isinstance(now, dict):
        old = before if isinstance(before, dict) else {}
        return {key: rounded(value, old.get(key)) for key, value in now.items()}
    if isinstance(now, list):
        olds = before[: len(now)] if isinstance(before, list) else []
        return [rounded(*pair) for pair in zip_longest(now, olds)]
    if not isinstance(now, float):
        return now
    middle, *edges = (float(f"{now * (1 + share):.6g}") for share in (0, -1e-6, 1e-6))
    return before if before in edges else middle


def moved(records: Iterable[Row], before: Card) -> list[str]:
    """Return a line for each probability and effect, or outcome of a theorem, that is not as it was
    before: `4-AD: 0.9975 to 0.0025`.
    """
    olds = {record.get("id"): record for record in [*before["claims"], *before["theorems"]]}
    lines = []
    for record in records:
        old = olds.get(record["id"], record)
        # as it is written: a number at the edge of rounding does not turn
        written: Any = rounded(record, old)
        was, now = _outcome(old), _outcome(written)
        if was != now:
            lines.append(f"{record['id']}: {was} to {now}")
    return lines


def _outcome(record: Row) -> str:
    """The probability and the effect of a claim, in four digits; the outcome of a theorem."""
    if "outcome" in record:
        return str(record["outcome"])
    effect = f" (effect {record['effect']['value']:.4g})" if record["effect"] else ""
    return f"{record['readings'][0]['probability']['value']:.4g}{effect}"


def read(results: Path) -> dict[str, Card]:
    """Return the claims and theorems of every notebook under `results/<profile>`, by notebook.

    ValueError names a file that an earlier version wrote.
    """
    runs: dict[str, Card] = {}
    for path in sorted(results.glob("[0-9][0-9]_*/claims.json")):
        name = path.parent.name
        runs[name] = paths.read_json(path)
        if missing := PARTS - runs[name].keys():
            message = f"{name}: claims.json is of an earlier version, without {min(missing)}"
            raise ValueError(f"{message}: `kbrepro reproduce {name[:2]}`")
    return runs


def pages(runs: Mapping[str, Card], titles: Mapping[str, str]) -> dict[str, str]:
    """Return the pages of every claim and theorem in Markdown, by their place in results/: an
    index, and a page for each notebook, which `titles` names.
    """
    said = totals(chain.from_iterable(run["claims"] for run in runs.values()))
    # a picture is said in words, too
    picture = f"![All sentences: {said}.](ranges.png)"
    counted = f"**All sentences**: {said}. {editions(runs.values())}".strip()
    parts = ["# Every claim", counted, picture, CAPTION, MEANS]
    parts.append(f"{KNOWING} {played_again(runs.values())}".strip())
    made = {}
    for name, run in runs.items():
        address, records = f"claims/{name}.md", run["claims"] + run["theorems"]
        title, edition = titles[name], edition_of(run)
        rows = [_entry(record, address) for record in records]
        parts += [f"## [{title}]({address})", edition, table(INDEX, rows)]
        counts, details = summary(run)
        whole = [f"# Claims of {title}", LINKS.format(name), edition, *counts]
        made[address] = [*whole, _noted(tables(records, name)), *details]
    made["README.md"] = parts
    return {address: "\n\n".join(page) + "\n" for address, page in made.items()}


def edition_of(run: Card) -> str:
    """Return which edition the results of a paper are, when it was frozen, what was changed since,
    and what came out in another rerun.
    """
    if not (freezes := run.get("edition")):
        return BEFORE
    first, *others = freezes
    said = FROZEN.format_map(first)
    if others:
        reasons = "; ".join(map("{on}: {why}".format_map, others))
        said += f" Frozen {len(freezes)} times ({reasons})."
    changed = ", ".join(first["changed"]) or "nothing"
    return f"{said} Changed since: {changed}. {played_again([run])}".strip()


def editions(runs: Iterable[Card]) -> str:
    """Return how many sentences are of which edition; empty if all are of one."""
    counts: Counter[str] = Counter()
    for run in runs:
        (edition, *_) = run.get("edition", [{"edition": EXPLORATORY}])
        counts[edition["edition"]] += len(observed(run["claims"]))
    parts = [f"{n} of edition {edition}" for edition, n in sorted((+counts).items(), reverse=True)]
    return f"They are {' and '.join(parts)}." * (len(parts) > 1)


def played_again(runs: Iterable[Card]) -> str:
    """Return how many sentences that nearly all reruns support, or nearly none, came out in one
    more; empty if none was played.
    """
    held: dict[str, list[bool]] = defaultdict(list)
    for run in runs:
        (found,) = run.get("rerun", [{}])
        for record in observed(run["claims"]):
            if record["id"] in found:
                held[record["verdict"]].append(found[record["id"]])
    again, seldom = held[AGAIN], held[NOT]
    said = (
        f"Played once more, with a seed fixed at the freeze: of {len(again)} sentences that at"
        f" least 90 of 100 reruns support, {sum(again)} came out in it; of {len(seldom)} that at"
        f" most 10 support, {sum(seldom)}."
    )
    return said * bool(again or seldom)


def _entry(record: Row, address: str) -> list[str]:
    """A row of the index: the sentence, which leads to its row on the page of its paper."""
    name, kind, often = record["id"], "theorem", ""
    said = in_short(record).replace("[", "\\[").replace("]", "\\]")
    if "outcome" not in record:
        kind, often = record["kind"], shown_often(record["readings"][0], short=True)
    sort = f"*{kind}*: " * (kind != "observation")
    link = f'<a id="{name}"></a>{sort}[{said}]({address}#{name})'
    return [link, often, shown_verdict(record)]


def _noted(text: str) -> str:
    """Small print that several rows share, once above them all."""
    printed = Counter(re.findall("<small>([^<]{40,})</small>", text))
    shared = [part for part, n in printed.items() if n >= SHARED]
    notes = []
    for letter, part in zip(ascii_lowercase, shared, strict=False):
        text = text.replace(f"<small>{part}</small>", f"<small>note {letter}</small>")
        notes.append(f"*Note {letter}*: {part}.")
    return "\n\n".join([*notes, text])


def summary(run: Card) -> tuple[list[str], list[str]]:
    """Return the totals of a paper's sentences and findings; and the details: which come out in the
    same rerun, and what the paper leaves open.
    """
    if not (findings := run["findings"]):
        return [], []
    parts = [
        f"**Sentences: {len(observed(run['claims']))}**. {totals(run['claims'])}.",
        f"**Findings: {len(findings)}** (sentences on the same numbers, or parts of one printed"
        f" sentence, count as one): {totals(findings)}.",
    ]
    shared = [
        f"{' + '.join(finding['ids'])}: {finding['verdict']}"
        for finding in findings
        if len(finding["ids"]) > 1
    ]
    if shared:
        parts.append(f"Judged together: {'; '.join(shared)}.")
    details = choices(run["choices"])
    if rows := [*_at_once(run["at_once"])]:
        details[:0] = ["### Which sentences come out in the same rerun?", table(AT_ONCE, rows)]
    return parts, details


def _at_once(lines: Sequence[Row]) -> Iterator[list[str]]:
    """Rows of sentences that come out in the same rerun; of combinations of choices that with the
    most sentences.
    """
    crossed = [line for line in lines if CROSS in line["choice"]]
    most = max(crossed, key=lambda line: len(line["holds"]), default=None)
    for line in lines:
        reading = f"{line['value']} ({line['choice']})" if line["choice"] else "main"
        reading += ", excluded" * bool(line["excluded_by"])
        if line in crossed:
            reading += f", the most of {len(crossed)} combinations"
        n, n_others = len(line["holds"]), len(line["fails"])
        others = ", ".join(line["fails"]) or "none"
        if line is most or line not in crossed:
            yield [reading, f"{n} of {n + n_others}", f"{line['mean']:.1f}", others]


def choices(values: Sequence[Row]) -> list[str]:
    """Return the table of what a paper leaves open, if it does: by choice the values that count,
    and those that do not, with their sources.
    """
    cells: dict[str, list[list[str]]] = {}
    for value in values:
        place = 0 if value["main"] else 1 if value["counts"] else 2
        why = value["excluded_by"] or value["source"] or "found by search" * (place > 0)
        if place == 2 and why == value["source"]:
            why += " (on few trials)"
        said = f"*{value['value']}*" + f": {why}" * bool(why)
        cells.setdefault(value["choice"], [[], [], []])[place].append(said)
    rows = [[choice, *map("<br>".join, there)] for choice, there in cells.items()]
    return ["### What does the paper leave open?", table(OPEN, rows)] if rows else []


def totals(claims: Iterable[Row]) -> str:
    """Return how many observations of a paper have which verdict: `5 come out again, 1 do not,
    ...`.
    """
    counted = observed(claims)
    counts = []
    for verdict in VERDICTS:
        with_it = [record for record in counted if record["verdict"] == verdict]
        n, n_always = len(with_it), sum(map(under_all, with_it))
        said = f"{GLYPHS[verdict]} {n} {verdict if n == 1 else PLURALS[verdict]}"
        if n_always and verdict in (AGAIN, NOT):
            said += f" ({n_always} under every interpretation)"
        if n or verdict != TOO_FEW:
            counts.append(said)
    uncertain = sum(record["uncertain"] for record in counted)
    fixed = sum(map(not_rerun, counted))
    changed = sum(record.get("changed", False) for record in counted)
    said = f"{', '.join(counts)}; {uncertain} of them uncertain, {fixed} not rerun"
    return said + f", {changed} changed after results were seen" * bool(changed)


def observed(claims: Iterable[Row]) -> list[Row]:
    """Return the sentences that count, or all findings, which have no kind."""
    kind = "observation"
    return [record for record in claims if record.get("kind", kind) == kind]


def tables(records: Sequence[Row], notebook: str = "") -> str:
    """Return claims, a table a kind, then theorems, as Markdown. With `notebook` it is for a page
    in results/claims/: each id leads to its cell there, and each table has a heading.

    Every row has its id as an anchor.
    """
    parts = []
    for kind, head in HEADS.items():
        chosen = [record for record in records if record.get("kind", "theorem") == kind]
        if chosen:
            parts += [f"### {kind.capitalize()}s"] * bool(notebook)
            parts.append(table(head, [_row(record, notebook) for record in chosen]))
    return "\n\n".join(parts)


def lines(record: Row) -> list[str]:
    """Return a claim or a theorem for a terminal; the first line has the verdict, the others all
    numbers.
    """
    first = f"{record['id']:5} {shown_verdict(record)}: {_said(record)}"
    text = "\n      ".join([first, *_words(record), *shown_number(record)])
    plain = re.sub(r"(?<!\\)\*|</?small>", "", text)
    return plain.replace("\\*", "*").replace("<br>", "; ").splitlines()


def _row(record: Row, notebook: str) -> list[str]:
    """A claim or a theorem as three cells, so that a phone shows all: sentence, our number,
    verdict.
    """
    name = record["id"]
    cell = f"[{name}](../../notebooks/{notebook}.ipynb#{name})" if notebook else f"**{name}**"
    how_often = ["; ".join(words)] if (words := _words(record)) else []
    return [
        f'<a id="{name}"></a>{cell} {_said(record)}',
        "<br>".join(shown_number(record)),
        "<br>".join([shown_verdict(record), *how_often]),
    ]


def _said(record: Row) -> str:
    """The sentence, where it stands, and the finding that it shares with others."""
    finding, corrected = record.get("finding"), record.get("corrected")
    where = record["where"] + f"; one finding: {finding}" * bool(finding)
    said = f"{_quoted(record)} ({where})"
    return f"{said}<br>corrected: {_plain(corrected)}" if corrected else said


def _quoted(record: Row) -> str:
    """The sentence, or the statement of a theorem."""
    if "outcome" in record:
        return _plain(record["statement"])
    said = _plain(record["quote"])
    return said if record["kind"] == "own question" or said.startswith(ROW) else f"“{said}”"


def in_short(record: Row) -> str:
    """Return the sentence, or the statement of a theorem, in at most 111 letters."""
    said = shorten(_quoted(record), 110, placeholder=" …")
    return said + "”" * (said.startswith("“") and said.endswith("…"))


def _plain(text: str) -> str:
    """Text whose asterisks stand for themselves."""
    return text.replace("*", "\\*")


def shown_verdict(record: Row) -> str:
    """Return what came out, and what the other interpretations that count say, if there are any, or
    why no number counts.
    """
    shown = shown_outcome(record)
    if "outcome" in record:
        return shown
    if clause := record["readings"][0]["excluded_by"]:
        return f"{shown}: not played as the paper does ({clause})"
    agree, counted = record["agree"], record["counted"]
    if counted == 1:
        return shown
    if agree == counted:
        return f"{shown}, under every interpretation" + " played" * (not under_all(record))
    choices = " and ".join(record["depends_on"])
    return f"{shown}, depends on {choices}: {agree} of {counted} agree"


def shown_outcome(record: Row) -> str:
    """Return the glyph and the words of a verdict, with its marks; of a theorem, the outcome."""
    changed = CHANGED * record.get("changed", False)
    if "outcome" in record:
        return f"**{record['outcome']}**{changed}"
    marks = " *(uncertain)*" * record["uncertain"]
    marks += " *(not rerun)*" * not_rerun(record)
    return f"{GLYPHS[record['verdict']]} **{record['verdict']}**{marks}{changed}"


def under_all(record: Row) -> bool:
    """Return whether there are other interpretations that count, all agree, and all their
    combinations were played.
    """
    return bool(1 < record["counted"] == record["agree"] and not record["not_played"])


def not_rerun(record: Row) -> bool:
    """Return whether nothing was drawn: all rows of a finite population, with one play each."""
    return _played_once(record["readings"][0])


def _played_once(reading: Row) -> bool:
    return bool(reading["probability"]["how"] == ONE_PLAY)


def shown_number(record: Row) -> list[str]:
    """Our number, then the trials behind it in small print; of a theorem, what was checked."""
    if "outcome" in record:
        return [_plain(record["checked"])]
    shown = _trials(record["readings"][0])
    if effect := record["effect"]:
        ends = _interval(_short(effect["low"]), _short(effect["high"]))
        shown[:0] = [f"**{_short(effect['value'])}**{ends}: {effect['shows']}"]
    return shown


def _words(record: Row) -> list[str]:
    """How often a claim comes out: under the main reading, and under those others that differ from
    it; how near to its bound a theorem came.
    """
    if "outcome" in record:
        room = record["room"]
        if room != room or not record["runs"]:
            return []
        return [f"share of the bound: {_short(room) if room >= 1e-3 else 'under 0.001'}"]
    main, *others = record["readings"]
    n_same, apart = 0, defaultdict[tuple[str, str], list[str]](list)
    for reading in others:
        choice = reading["choice"]
        # of two choices together, those alone that turn the verdict
        if CROSS in choice and choice not in record["depends_on"]:
            continue
        if abs(reading["probability"]["value"] - main["probability"]["value"]) < 0.005:
            n_same += 1
            continue
        often = shown_often(reading, short=True)
        if not reading["counts"]:
            few = f"on {reading['kept']} trials" if reading["source"] else "found by search"
            often += f" (does not count: {reading['excluded_by'] or few})"
        apart[choice, often].append(f"*{reading['value']}*")
    words = ["main interpretation: " * bool(n_same or apart) + shown_often(main)]
    for (choice, often), values in apart.items():
        words.append(f"{choice} {_listed(values)}: {often}")
    if n_same:
        words.append(f"{n_same} other interpretation{'s' * (n_same > 1)}: the same")
    if record["not_played"]:
        words.append(f"combinations not played: {len(record['not_played'])}")
    return words


def shown_often(reading: Row, short: bool = False) -> str:
    """`96 of 100 reruns (90 to 98)`, in short without the interval; or whether it holds in the one
    play that there is.
    """
    probability = reading["probability"]
    if _played_once(reading):
        return "holds" if probability["value"] > 0.5 else "does not hold"
    often = _of_100(probability["value"])
    if short:
        return often
    low, high = f"{100 * probability['low']:.0f}", f"{100 * probability['high']:.0f}"
    return f"{often} reruns{_interval(low, high)}"


def _interval(low: str, high: str) -> str:
    """` (1 to 2)`; nothing if both ends look alike."""
    return f" ({low} to {high})" if low != high else ""


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


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table; cells may not contain line ends."""
    lines = []
    for line in (head, ["---"] * len(head), *rows):
        cells = " | ".join(cell.replace("|", "\\|") for cell in line)
        lines.append(f"| {cells} |")
    return "\n".join(lines)


def _trials(reading: Row) -> list[str]:
    """What a number rests on: trials kept and drawn, and what waits to be played."""
    rests_on = f"{reading['kept']} trials stored, {reading['drawn']} a rerun"
    if _played_once(reading):
        rests_on = "played once, not rerun"
    return [f"<small>{part}</small>" for part in (rests_on, reading["caveat"]) if part]


def _short(number: float) -> str:
    """Two digits, and all those before the point."""
    return f"{number:,.0f}" if 10 <= abs(number) < 1e6 else f"{number:.2g}"
