"""Published claims, their numeric rules, and verdicts computed from them.

The rules are data: `notebooks/claims/<notebook>.yaml`, committed before the first full-scale run. A rule is a set of
bounds on `value`, `low` and `high` (the ends of the 95 % interval), all of which must hold:

    reproduced: {low: "> 0"}
    partly: {value: "> 0"}
"""

from __future__ import annotations

import json
import math
import operator
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import yaml

from kbrepro.regret import Estimate

VERDICTS = ("reproduced", "partly", "not reproduced", "stand-in", "not evaluated")

_COMPARISONS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}

Rule = dict[str, str]


@dataclass(frozen=True)
class Claim:
    """One published claim and the rule that decides it."""

    id: str
    where: str
    claim: str
    statistic: str
    reproduced: Rule
    partly: Rule | None = None
    stand_in: bool = False  # judged on data other than the paper's: the number is shown, outside the totals

    def verdict(self, estimate: Estimate) -> str:
        """Return the verdict that the rule gives for an estimate; ValueError if it holds a NaN."""
        if any(math.isnan(x) for x in estimate):
            raise ValueError(f"claim {self.id}: estimate = {estimate} is not allowed: it must hold no NaN")
        if self.stand_in:
            return "stand-in"
        if holds(self.reproduced, estimate):
            return "reproduced"
        return "partly" if self.partly and holds(self.partly, estimate) else "not reproduced"


def holds(rule: Rule, estimate: Estimate) -> bool:
    """Return whether every bound of the rule holds; ValueError if it has none, or one that cannot be read."""
    if not rule:
        raise ValueError(f"rule {rule!r} is not allowed: it must hold at least one bound")
    return all([_bound_holds(name, bound, estimate) for name, bound in rule.items()])  # a list: reads them all


def _bound_holds(name: str, bound: str, estimate: Estimate) -> bool:
    try:
        value = estimate._asdict()[name]
        pairs = [part.split() for part in bound.split(",")]
        return all([_COMPARISONS[sign](value, float(threshold)) for sign, threshold in pairs])
    except (ValueError, KeyError, AttributeError):
        allowed = 'value, low or high with a bound such as "> 0" or ">= -0.2, <= 0.2"'
        raise ValueError(f"rule {name}: {bound!r} is not allowed: it must be {allowed}") from None


def load(path: Path) -> dict[str, Claim]:
    """Return the claims of one rules file by id, in its order; ValueError if an id stands twice."""
    claims = [Claim(**entry) for entry in yaml.safe_load(path.read_text(encoding="utf-8"))]
    twice = [i for i, n in Counter(c.id for c in claims).items() if n > 1]
    if twice:
        raise ValueError(f"{path.name}: claim {twice[0]} stands twice")
    return {claim.id: claim for claim in claims}


def shown(record: dict) -> str:
    """Return value and interval of a record with two significant digits."""
    if record["value"] is None:
        return "–"
    value = f"{record['value']:.2g}"
    if record["interval"] is None:
        return value
    return f"{value} [{record['interval'][0]:.2g}, {record['interval'][1]:.2g}]"


def read(results: Path) -> dict[str, list[dict]]:
    """Return the records of every notebook under a results folder (`results/<profile>`), by notebook."""
    return {
        path.parent.name: json.loads(path.read_text(encoding="utf-8"))
        for path in sorted(results.glob("[0-9][0-9]_*/claims.json"))
        if not path.parent.name.endswith(".partial")
    }


def summary(records: list[dict]) -> str:
    """Return the count of every verdict that occurs, as '5 reproduced, 1 partly'."""
    counts = Counter(r["verdict"] for r in records)
    return ", ".join(f"{counts[v]} {v}" for v in VERDICTS if counts[v])


def scorecard(root: Path, results: Path | None = None) -> str:
    """Return the scorecard in Markdown: every claim of a results folder and its verdict.

    Without `results` it is the committed full-scale run, `results/paper`; with it, the verdict of the full-scale run
    stands beside each verdict.
    """
    paper = root / "results" / "paper"
    run = read(results or paper)
    full_scale = {r["id"]: r["verdict"] for records in read(paper).values() for r in records}
    compare = results is not None and results.resolve() != paper.resolve()
    lines = ["# Scorecard", "", "Verdicts follow from `notebooks/claims/*.yaml` and the numbers of the run."]
    for notebook, records in run.items():
        lines += [
            "",
            f"## {notebook}",
            "",
            f"{summary(records)}.",
            "",
            *_rows(records, full_scale if compare else None),
        ]
    return "\n".join(lines) + "\n"


def _rows(records: list[dict], full_scale: dict[str, str] | None) -> list[str]:
    head = ["id", "in the paper", "claim", "statistic", "value [95 % interval]", "verdict", "note"]
    if full_scale is not None:
        head.insert(6, "full scale")
    rows = [head, ["---"] * len(head)]
    for r in records:
        row = [r["id"], r["where"], r["claim"], r["statistic"], shown(r), f"**{r['verdict']}**", r["note"]]
        if full_scale is not None:
            row.insert(6, full_scale.get(r["id"], "–"))
        rows.append([cell.replace("|", "\\|").strip() for cell in row])
    return ["| " + " | ".join(row) + " |" for row in rows]
