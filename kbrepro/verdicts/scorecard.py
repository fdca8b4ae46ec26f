"""What the runs found, in words and tables: answers, verdict tables, the scorecard. Generated, never typed."""

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from kbrepro.verdicts.claims import VERDICTS
from kbrepro.verdicts.interpretations import in_words, ranking

#: What stands in claims.json: a claim with its verdict, or a sentence.
Record = Mapping[str, Any]
#: What runs left, by notebook (see `read_run`).
Runs = Mapping[str, Mapping[str, Any]]

#: A glyph a verdict, so that a table can be read without colour.
GLYPHS = dict(zip(VERDICTS, ("●", "◉", "◐", "◑", "◌", "○", "–"), strict=True))
COUNTED = ("experiment", "theorem")
#: What stands outside the totals, and what it means; how several are called.
ASIDE = {
    "own question": "ours, not asked by the paper; some of the advice rests on them",
    "sanity check": "these could hardly fail",
    "substitute data": "real readings, but not those of the paper",
}
MANY = {"sanity check": "sanity checks", "substitute data": "on substitute data", "own question": "own questions"}
OUTSIDE = "outside the totals"
#: Verdicts by what becomes of a claim; open is what is neither.
STANDS, FAILS = ("reproduced", "no violation found"), ("not reproduced",)
#: What each verdict says of a claim, in a clause.
MEANS = {
    "reproduced": "every part of the claim met its rule, with its whole 95 % interval",
    "no violation found": "the same for a theorem, which a run can refute but never prove",
    "partly": "some parts hold, some fail",
    "depends": "on a choice that the paper's text leaves open",
    "undecided": "an interval is too wide to tell",
    "not reproduced": "parts fail, and none holds",
    "not evaluated": "the run lacked what the claim needs, or a control failed",
}
FULL_SCALE = "paper"
#: The picture of the totals, beside the full-scale runs, and that of all parts of one of them.
TOTALS, PARTS = "totals.png", "parts_{}.png"
NOT_DONE = (
    "We never saw the papers' plots, only their text, and have not asked the authors. All algorithms are written anew; "
    "some were compared once, by hand, with public code, which no test shows yet. Claims from text, tables and "
    "theorems are judged; curves are not."
)

#: What the words of a notebook's totals mean.
WORDS = (
    "A claim *stands* if every part of it met its rule, with its whole interval; a theorem stands if no violation was "
    "found. A claim is *open* if an interval is too wide, if some parts hold and some fail, or if it depends on a "
    "choice that the text leaves open."
)
LEGEND = (
    "A part of a claim holds if its whole 95 % interval meets the rule, fails if none of it does, and is undecided "
    f"otherwise. {' '.join(f'{GLYPHS[verdict]} {verdict}: {means}.' for verdict, means in MEANS.items())} A "
    "mark also says in how many interpretations of what the paper leaves open the claim, or one part of it, holds, "
    f"fails or is open. Not in the totals: {'; '.join(f'{kind} ({means})' for kind, means in ASIDE.items())}."
)


# Loading what runs left


def read_run(folder: Path) -> dict[str, Any]:
    """Return what one run left, as far as the files exist.

    `rules`, `expected` and `claims` (see `rows`) from its claims.json; `figures` (`title`, `curves`, `tables`) and
    `tables` (`kind`) by name, from its manifest.json; `facts`, its run.json.
    """
    run: dict[str, Any] = {"rules": "", "expected": [], "claims": [], "figures": {}, "tables": {}}
    run |= _read(folder / "claims.json") | _read(folder / "manifest.json") | {"facts": _read(folder / "run.json")}
    return run | {"claims": rows(run["claims"], run["expected"])}


def _read(path: Path) -> dict[str, Any]:
    """The content of a JSON file, empty if there is none; if it cannot be read, ValueError says what to do."""
    try:
        return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    except ValueError as error:
        where = "/".join(path.parts[-4:])
        raise ValueError(f"{where} cannot be read ({error}): restore it, or run the notebook again") from None


def read(results: Path) -> dict[str, dict[str, Any]]:
    """Return `read_run` of every notebook under a results folder (`results/<profile>`), by notebook."""
    return {folder.name: read_run(folder) for folder in finished(results, "claims.json")}


def finished(results: Path, file: str) -> list[Path]:
    """Return the folders of all notebooks under a results folder that contain a file, without half-written ones.

    They are in the order of their papers' years in CITATION.cff; a notebook without a paper comes last.
    """
    folders, years = sorted(path.parent for path in results.glob(f"[0-9][0-9]_*/{file}")), _years(results)
    folders.sort(key=lambda folder: years.get(folder.name, math.inf))
    return [folder for folder in folders if not folder.name.endswith(".partial")]


def _years(results: Path) -> dict[str, int]:
    """The year of each notebook's paper, from the CITATION.cff of the project that the results are in."""
    for path in (folder / "CITATION.cff" for folder in results.parents):
        if path.is_file():
            papers = yaml.safe_load(path.read_text(encoding="utf-8"))["references"]
            return {paper["notes"].split()[-1]: paper["year"] for paper in papers}
    return {}


# The table that everything else is a view of


def rows(
    records: Iterable[Record], expected: Iterable[Record] = (), full: Iterable[Record] = ()
) -> list[dict[str, Any]]:
    """Return records, each with its words in Markdown, by column.

    `expected`: the sentences of its run, some of which explain a claim; `full`: rows of the full-scale run.
    """
    beside, told = {r["id"]: r for r in full}, [e for e in expected if e["holds"]]
    return [dict(r) | _said(r, told, beside.get(r["id"])) for r in records]


def _said(r: Record, expected: list[Record], full: Record | None) -> dict[str, str]:
    """The columns made from a record; `mark` is glyph, verdict and qualifications, `reason` says why it is so."""
    aside = f" ({r['counts_as']})" if r["counts_as"] in ASIDE else ""
    revised = f" (*revised after seeing data*; by the rule before: {r['revised']['verdict']})" if "revised" in r else ""
    on = f" on the {r['depends_on']}" if r.get("depends_on") else ""
    note = r["note"]
    found = f"*{note}*" if r["verdict"] == "not evaluated" else r["finds"] + f" ({note})" * bool(note)
    reason = next((e["why"] for e in expected if r["id"] in e.get("explains", ())), "")
    return {
        "aside": aside,
        "mark": f"{GLYPHS[r['verdict']]} **{r['verdict']}**{on}{_played(r)}{aside}{revised}",
        "found": found,
        "words": f"“{r['quote']}” ({r['where']})" if r.get("quote") else f"({r.get('where', '')})",
        "evidence": f"{found} {folded_line('Details', evidence(dict(r) | {'reason': reason}))}",
        "reason": reason,
        "at full scale": f"{full['mark']}: {full['finds']}" if full and full["finds"] else "no run is here",
    }


def _played(r: Record) -> str:
    """In how many interpretations the played part holds, in brackets; nothing where it is our own question."""
    parts, found = r["parts"], r.get("interpretations")
    if not found or (played := parts[found["part"]]).get("own"):
        return ""
    under = "", played.get("interpretation", "")
    counted = [its for its in parts.values() if not (its.get("own") or its.get("control"))]
    several = sum(its.get("interpretation", "") in under for its in counted) > 1
    return f" ({'one part ' * several}{in_words(found)})"


def evidence(r: Record) -> Iterator[str]:
    """The evidence of a verdict, one line each: parts with rules, reason, interpretations, halves, history."""
    yield f"{r.get('where', '')} ({r.get('kind', '')})."
    for part in r.get("parts", {}).values():
        flags = [flag for flag in ("control", "own") if part.get(flag)] + [*filter(None, [part.get("interpretation")])]
        value = f"{part['shown']}, {part['state']}" if "shown" in part else "not judged"
        of = f" ({', '.join(flags)})" if flags else ""
        yield f"{part['is']}{of}: rule {part['rule']}; {value}."
    if r["deciding"]:
        yield f"It is {r['deciding']}."
    if r["reason"]:
        yield r["reason"]
    if "interpretations" in r:
        shares = [f"{name} {share:.0%}" for name, share in r["interpretations"]["flips"].items() if share]
        flips = f"; pairs that one choice alone moves into or out of 'holds': {', '.join(shares)}" if shares else ""
        yield f"Part {r['interpretations']['part']} in every interpretation: {in_words(r['interpretations'])}{flips}."
    if "halves" in r:
        yield f"On even trials {r['halves'][0]}, on odd trials {r['halves'][1]}."
    for key, what in (("sanity_check", "A sanity check"), ("substitute_data", "Judged on substitute data")):
        if r.get(key):
            yield f"{what}: {r[key].rstrip('.')}."
    for change in r.get("changes", ()):
        yield (
            f"Revised after results of {change['seen']} were seen. Rule before: {change['was']} ({change['then']}). "
            f"Why: {change['why']} ({change['direction']}). The new rule on old numbers: {change['on_old_numbers']}."
        )


def view(its: Iterable[Record], columns: Mapping[str, str]) -> str:
    """Return rows as a Markdown table with the columns {heading: column}."""
    return table(list(columns), [[r[column] for column in columns.values()] for r in its])


def table(head: Sequence[str], lines: Iterable[Sequence[Any]]) -> str:
    """Return a Markdown table; bars and line ends in cells are escaped."""
    rows = head, ["---"] * len(head), *lines
    cells = ([" ".join(str(cell).split()).replace("|", "\\|") for cell in row] for row in rows)
    return "\n".join(f"| {' | '.join(row)} |" for row in cells)


# In words


def _tally(kinds: Iterable[str], its: Sequence[str]) -> list[str]:
    """How often each of `kinds` occurs, if it does: '5 reproduced', '2 sanity checks'."""
    counts = {kind: its.count(kind) for kind in kinds if kind in its}
    return [
        f"{n} {kind if n == 1 and kind != 'substitute data' else MANY.get(kind, kind)}" for kind, n in counts.items()
    ]


def synthesis(run: Mapping[str, Any]) -> bool:
    """Return whether a run judges no paper: all its claims are our own questions."""
    return bool(run["claims"]) and all(r["kind"] == "own question" for r in run["claims"])


def of_papers(runs: Runs) -> dict[str, Mapping[str, Any]]:
    """Return the runs that judge a paper."""
    return {name: run for name, run in runs.items() if not synthesis(run)}


def standing(records: Iterable[Record]) -> tuple[list[Record], list[Record], list[Record]]:
    """Return the claims that count: those that stand, those that fail, and those that are open."""
    inside = [r for r in records if r["counts_as"] in COUNTED]
    stand, fail = ([r for r in inside if r["verdict"] in group] for group in (STANDS, FAILS))
    return stand, fail, [r for r in inside if r["verdict"] not in STANDS + FAILS]


def summary(records: Sequence[Record]) -> str:
    """Return the totals of a notebook as `counted` has them, and what does not count."""
    outside = [] if synthesis({"claims": records}) else _tally(ASIDE, [r["counts_as"] for r in records])
    return counted(records) + f"; not counted: {', '.join(outside)}" * bool(outside)


def counted(records: Sequence[Record]) -> str:
    """Return how claims came out: '4 of 6 claims of the paper stand (reproduced), 1 fails (1-F), 1 is open (partly)'.

    If all are our own questions, they are counted by verdict.
    """
    if synthesis({"claims": records}):
        found = _tally(VERDICTS, [r["verdict"] for r in records])
        return f"{len(records)} question{'s' * (len(records) != 1)} of our own: {', '.join(found)}"
    groups = standing(records)
    n = sum(map(len, groups))
    head = f" of {n} claim{'s' * (n != 1)} of the paper"
    verbs = ("stand", "stands"), ("fail", "fails"), ("are open", "is open")
    brackets = _which(groups[0]), _failing(groups[1]), _which(groups[2])
    told = [
        f"{len(its)}{'' if i else head} {verb[len(its) == 1]}{which}"
        for i, (its, verb, which) in enumerate(zip(groups, verbs, brackets, strict=True))
        if its or not i
    ]
    return ", ".join(told)


def headline(runs: Runs) -> str:
    """Return how many claims of the papers stand, fail and are open, and how many rules are younger than results.

    All theorems are counted apart, in the totals or not: a run can refute one, and never show that it is true.
    """
    records = [r for run in of_papers(runs).values() for r in run["claims"]]
    stand, fail, rest = map(len, standing(records))
    n, changed = stand + fail + rest, len(changed_after(records))
    text = f"**{stand} of {n} claims of the papers stand, {fail} fail, and {rest} are open.**"
    if changed:
        text += f" This is exploratory: the rules of {changed} of the {n} were changed after results had been seen."
    if theorems := [r["verdict"] for r in records if r["kind"] == "theorem"]:
        good, bad = (sum(verdict in group for verdict in theorems) for group in (STANDS, FAILS))
        text += f" Of all {len(theorems)} statements of theorems and lemmas that were tried, in these totals or not, "
        text += f"{good} showed no violation, {bad} failed, {len(theorems) - good - bad} stayed undecided."
    return text


def changed_after(records: Iterable[Record], seen: str = "") -> list[Record]:
    """Return the claims that count whose rule changed after results of an edition were `seen`; by default the last."""
    its = [r for r in records if r["counts_as"] in COUNTED]
    last = seen or max((c["seen"] for r in its for c in r["changes"] if "seen" in c), default="")
    return [r for r in its if any(c.get("seen") == last for c in r["changes"])]


def totals(root: Path, runs: Runs) -> str:
    """Return the headline in Markdown, and below it each paper in a line, totals by verdict, and what was not done."""
    records = [r for run in of_papers(runs).values() for r in run["claims"]]
    groups = [[r["verdict"] for r in its] for its in standing(records)]
    outside = [r["counts_as"] for r in records if r["counts_as"] in ASIDE]
    lines = [
        f"*{head}*: {'; '.join(f'{_tally([v], its)[0]} ({MEANS[v]})' for v in VERDICTS if v in its)}."
        for head, its in zip(("Stand", "Fail", "Open"), groups, strict=True)
        if its
    ]
    lines += [f"*Not counted*: {_outside(outside)}."] if outside else []
    real = " At full scale sensor readings are real." * any(run.get("facts", {}).get("data") for run in runs.values())
    return "<br>– ".join(
        [headline(runs) + real, *in_short(root, runs), *lines, f"*Not done*: {NOT_DONE[0].lower()}{NOT_DONE[1:]}"]
    )


def _which(its: Sequence[Record]) -> str:
    """The verdicts of a group in brackets, counted if there are several."""
    verdicts = [r["verdict"] for r in its]
    return f" ({', '.join(_tally(VERDICTS, verdicts)) if len(set(verdicts)) > 1 else verdicts[0]})" if its else ""


def _failing(its: Sequence[Record], words: Mapping[str, str] | None = None) -> str:
    """The claims that fail in brackets, with `words` for some: ' (3-Q; 3-V, all cells are good)'."""
    told = [f"{r['id']}, {words[r['id']]}" if words and r["id"] in words else r["id"] for r in its]
    return f" ({('; ' if words else ', ').join(told)})" if its else ""


def _outside(its: Sequence[str]) -> str:
    """What does not count, by kind, with the meaning of each."""
    return "; ".join(f"{_tally([kind], its)[0]} ({means})" for kind, means in ASIDE.items() if kind in its)


def across(root: Path, runs: Runs) -> list[str]:
    """Return the sentences of docs/across.yaml on all papers whose claims all have the verdicts that it names."""
    return [sentence for paper, sentence, _ in _across(root, runs) if not paper]


def in_short(root: Path, runs: Runs) -> list[str]:
    """Return those on one paper, each with how many of its claims stand, fail and are open."""
    found = []
    for paper, sentence, words in _across(root, runs):
        for notebook in (name for name in runs if paper and name.startswith(paper)):
            stand, fail, rest = standing(runs[notebook]["claims"])
            verbs = f"stand{'s' * (len(stand) == 1)}", f"fail{'s' * (len(fail) == 1)}{_failing(fail, words)}"
            found.append(f"{sentence} **{len(stand)} {verbs[0]}, {len(fail)} {verbs[1]}, {len(rest)} open.**")
    return found


def _across(root: Path, runs: Runs) -> list[tuple[str, str, dict[str, str]]]:
    verdicts = {r["id"]: r["verdict"] for run in runs.values() for r in run["claims"]}
    path = root / "docs" / "across.yaml"
    its = yaml.safe_load(path.read_text(encoding="utf-8")) if path.is_file() else []
    true = [each for each in its if all(verdicts.get(claim) == verdict for claim, verdict in each["if"].items())]
    return [
        (each.get("paper", ""), f"{each['sentence']} ({', '.join(each['if'])})", each.get("fails", {})) for each in true
    ]


def answers(run: Mapping[str, Any]) -> list[str]:
    """Return the findings of a run that hold in it, each with the claims that it rests on."""
    return [f"{e['sentence']} ({', '.join(e['answers'])})" for e in run["expected"] if "answers" in e and e["holds"]]


def glance(run: Mapping[str, Any], notebook: str) -> str:
    """Return the answer in Markdown: the findings of a run (see `read_run`), its totals, what was not done."""
    if not run["claims"]:
        return f"*No full-scale run of {notebook} is here: `kbrepro reproduce {notebook[:2]} --profile {FULL_SCALE}`.*"
    found = "\n".join(f"- {answer}" for answer in answers(run))
    told = [] if synthesis(run) else [folded("Words", WORDS), NOT_DONE]
    return "\n\n".join(filter(None, [found, f"{summary(run['claims'])}.", *told]))


def _ranking(its: Iterable[Record]) -> pd.DataFrame:
    played = [r for r in its if r.get("interpretations") and not r["parts"][r["interpretations"]["part"]].get("own")]
    return ranking({r["id"]: r["interpretations"]["flips"] for r in played})


def verdict_table(its: Sequence[Record], beside: bool) -> str:
    """Return rows in Markdown: claim, the paper's words, what we find, verdict; `beside` adds that at full scale."""
    columns = {"": "id", "claim": "says", "the paper's words": "words", "what we find": "evidence", "verdict": "mark"}
    before, once = "", []
    for r in its:
        once.append(dict(r) | {"words": "the same"} if r.get("quote") and r["words"] == before else r)
        before = r["words"]
    return view(once, columns | ({"at full scale": "at full scale"} if beside else {}))


# The scorecard


def scorecard(root: Path, results: Path | None = None) -> str:
    """Return the scorecard in Markdown: every claim of a results folder, by default of the full-scale runs."""
    paper = root / "results" / FULL_SCALE
    full, runs = read(paper), read(results or paper)
    main = results in (None, paper)
    lines = {n: rows(run["claims"], full=full.get(n, {}).get("claims", ())) for n, run in runs.items()}
    its = [r for name in of_papers(runs) for r in lines[name]]
    columns = {"": "id", "claim": "says", "what we find": "evidence", "verdict": "mark"}
    columns |= {} if main else {"at full scale": "at full scale"}
    parts = ["# Scorecard", totals(root, runs), matrix(runs), folded("What the verdicts mean", LEGEND)]
    parts.append(view([r for r in its if r["counts_as"] in COUNTED], columns))
    for kind, means in ASIDE.items():
        aside = [r for r in its if r["counts_as"] == kind]
        parts += [folded(f"{kind.capitalize()} ({means}): {len(aside)}", view(aside, columns))] if aside else []
    for name in sorted(runs.keys() - of_papers(runs).keys()):
        parts.append(folded(f"{name}: {summary(runs[name]['claims'])}", view(lines[name], columns)))
    pictures = [f"![{name}]({FULL_SCALE}/{PARTS.format(name[:2])})" for name in runs if main]
    parts += [folded("Every part of every claim by its distance to the rule", *pictures)] if main else []
    parts += [
        folded("Which of the papers' open choices matter", ranked_choices(runs)),
        _by_chance(runs),
        *(moved(runs, seen) for seen in _seen(runs)),
    ]
    return "\n\n".join(part for part in [*parts, _changes(runs)] if part) + "\n"


def matrix(runs: Runs) -> str:
    """Return the overview in Markdown: papers by verdicts on experiments and theorems, and what does not count."""
    judged = of_papers(runs).items()
    counted = {name: Counter((r["counts_as"], r["verdict"]) for r in run["claims"]) for name, run in judged}
    found = [(kind, v) for kind in COUNTED for v in VERDICTS if any(its[kind, v] for its in counted.values())]
    head = [f"{'theorems: ' * (kind == 'theorem')}{GLYPHS[v]} **{v}**" for kind, v in found]
    lines = []
    for name, its in counted.items():
        outside = [sum(its[kind, v] for v in VERDICTS) for kind in ASIDE]
        lines.append([name, *(n or "" for n in [*(its[case] for case in found), *outside])])
    return table(["experiments", *head, *ASIDE], lines)


def ranked_choices(runs: Runs) -> str:
    """Return a table in Markdown: the choices that papers leave open, ranked by the claims that each moves.

    It moves a claim into or out of "holds"; on the other side its part may be undecided.
    """
    ranked = _ranking(r for run in runs.values() for r in run["claims"])
    lines = [[row.choice, f"{row.flips} of {row.of}", f"{row.share:.0%}"] for row in ranked.itertuples()]
    head = ["choice that the papers leave open", "claims that it moves into or out of 'holds'"]
    head += ["pairs of interpretations that it alone moves"]
    return table(head, lines) if lines else ""


def folded(summary: str, *parts: str) -> str:
    """Return HTML that shows a summary and, once opened, the rest: paragraphs of Markdown."""
    return "\n\n".join([f"<details><summary>{summary}</summary>", *filter(None, parts), "</details>"])


def folded_line(summary: str, lines: Iterable[str]) -> str:
    """Return the same in one line, for a cell of a table; the lines are text, and bars of tables in them are safe."""
    return f"<details><summary>{summary}</summary>{'<br>'.join(map(escape, lines))}</details>"


def _by_chance(runs: Runs) -> str:
    """How many parts may have been decided wrongly by chance alone."""
    every = [r for run in runs.values() for r in run["claims"] if r["counts_as"] in COUNTED]
    parts = [part for r in every for part in r["parts"].values() if "value" in part and not part.get("own")]
    n = sum(part["low"] < part["high"] for part in parts)
    return (
        f"{n} of the {len(parts)} parts that count have a sampling error. A 95 % interval lies wholly on the wrong "
        "side of its limit with a probability of at most 2.5 %. So chance alone is expected to decide at most "
        f"{n * 0.025:.1f} of them wrongly, and that many only if every true value lies at its limit."
    )


def moved(runs: Runs, seen: str) -> str:
    """Return of how many claims that count the rule was changed after results were `seen`, and what that moved."""
    records = [r for run in runs.values() for r in run["claims"]]
    its = changed_after(records, seen)
    # of a theorem "no violation found" is what "reproduced" was
    rank = {verdict: max(i, 1) for i, verdict in enumerate(VERDICTS)}
    before = [next(c["then"] for c in r["changes"] if c.get("seen") == seen) for r in its]
    by = [rank[then] - rank[r["verdict"]] for r, then in zip(its, before, strict=True) if then in rank]
    text = f"After results of {seen} were seen, {len(its)} of the rules that count were changed. "
    text += f"By that {sum(n > 0 for n in by)} verdicts moved up and {sum(n < 0 for n in by)} down."
    marked = sum("revised" in r for r in its)
    return text + f" {marked} of them carry the mark *revised after seeing data*." * bool(marked)


def _seen(runs: Runs) -> list[str]:
    return sorted({c["seen"] for run in runs.values() for r in run["claims"] for c in r["changes"] if "seen" in c})


def _changes(runs: Runs) -> str:
    changed = [r for run in runs.values() for r in run["claims"] if r["changes"]]
    moves = [(r["changes"][0]["then"], r["verdict"] if r["counts_as"] in COUNTED else OUTSIDE) for r in changed]
    moves = [(before if before in VERDICTS else OUTSIDE, now) for before, now in moves]
    ends = (*VERDICTS, OUTSIDE)
    before_now = [[b, *(str(moves.count((b, now)) or "") for now in ends)] for b in ends if b in dict(moves)]
    keys = ("was", "seen", "then", "why", "direction", "on_old_numbers")
    lines = [
        [r["id"], *(change.get(key, "") for key in keys), r["verdict"]] for r in changed for change in r["changes"]
    ]
    head = [
        "",
        "rule before",
        "results seen",
        "verdict before",
        "why it changed",
        "now",
        "new rule on old numbers",
        "verdict now",
    ]
    tables = [table(["claims by verdict before (rows) and now", *ends], before_now), table(head, lines)]
    return folded("Rules that changed after a full-scale run", *tables) if changed else ""
