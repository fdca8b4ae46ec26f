"""Verdicts as plain text: one line per claim, or all of a claim: rule, parts, interpretations and history."""

import textwrap
from collections.abc import Collection, Iterable, Iterator
from difflib import get_close_matches

from kbrepro.verdicts.scorecard import GLYPHS, WORDS, Record, Runs, answers, evidence, summary


def listed(runs: Runs, verdict: str = "", width: int = 100) -> str:
    """Return one line per claim (of one `verdict` only), at most `width` characters, below its notebook's totals."""
    lines = []
    for notebook, run in runs.items():
        lines += ["", notebook, *_wrapped(answers(run), width), f"{summary(run['claims'])}."]
        for r in run["claims"]:
            if verdict in ("", r["verdict"]):
                text = f"  {r['id']}  {GLYPHS[r['verdict']]} {r['verdict'] + r['aside']}: {r['says']}"
                lines.append(textwrap.shorten(text, max(width, 40), placeholder=" ...", break_on_hyphens=False))
                lines[-1] = f"  {lines[-1]}"
    return "\n".join([*lines, "", *textwrap.wrap(WORDS.replace("*", ""), max(width, 40))]).lstrip("\n")


def named(runs: Runs, claim_ids: Collection[str], width: int = 100) -> str:
    """Return all of each claim, in lines of at most `width` characters; ValueError if no run judged one."""
    every = {r["id"]: r for run in runs.values() for r in run["claims"]}
    for claim_id in claim_ids:
        if claim_id not in every:
            near = get_close_matches(claim_id, every, n=3) or [*every][:1]
            raise ValueError(
                f"claim {claim_id!r} was not judged; `kbrepro claims` lists all that were, such as {', '.join(near)}"
            )
    return "\n\n".join("\n".join(_whole(every[claim_id], max(width, 40))) for claim_id in claim_ids)


def _whole(r: Record, width: int) -> Iterator[str]:
    """One claim: verdict, the paper's words, finding, then the evidence."""
    yield f"{r['id']}  {r['mark'].replace('*', '')}"
    told = {"where": f"{r['where']} ({r['kind']})", "quote": f'"{r["quote"]}"' if r["quote"] else "", "says": r["says"]}
    told |= {"found": r["found"].strip("*")}
    for name, text in told.items():
        if text:
            yield from textwrap.wrap(text, width, initial_indent=f"    {name:<7}", subsequent_indent=" " * 11)
    yield from _wrapped(evidence(r), width, "    - ")


def _wrapped(texts: Iterable[str], width: int, lead: str = "  - ") -> Iterator[str]:
    for text in texts:
        yield from textwrap.wrap(text, max(width, 40), initial_indent=lead, subsequent_indent=" " * len(lead))
