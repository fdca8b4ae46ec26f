"""Rules, verdicts and results of notebooks whose claims are still those of the first edition: one statistic a claim.

The rules are a plain list in `notebooks/claims/<notebook>.yaml`; a rule is a set of bounds on `value`, `low` and `high`
(the ends of the 95 % interval), all of which must hold:

    reproduced: {low: "> 0"}
    partly: {value: "> 0"}
"""

from __future__ import annotations

import json
import math
import operator
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd
import yaml
from matplotlib.figure import Figure

from kbrepro import paths
from kbrepro.record import curve_quantiles
from kbrepro.regret import Estimate, Trace, final_average_regret

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


class Results:
    """Writes under `results_dir` (relative to the project's root); with an empty name every call does nothing."""

    def __init__(self, results_dir: str) -> None:
        self.folder: Path | None = paths.project_root() / results_dir if results_dir else None

    def figure(self, figure: Figure, name: str) -> None:
        """Write `figures/<name>.png` at 200 dpi on white."""
        if self.folder:
            (self.folder / "figures").mkdir(parents=True, exist_ok=True)
            figure.savefig(self.folder / "figures" / f"{name}.png", dpi=200, facecolor="white")

    def table(self, table: pd.DataFrame, name: str) -> None:
        """Write `tables/<name>.csv`."""
        if self.folder:
            paths.write_text(self.folder / "tables" / f"{name}.csv", table.to_csv(float_format="%.6g"))

    def traces(self, traces: dict[str, Trace], name: str) -> None:
        """Write the average regret R_T / T of every trial, and mean and quartiles of the curves."""
        finals = pd.DataFrame(final_average_regret(traces))
        self.table(finals.rename_axis("trial"), f"{name}_average_regret_per_trial")
        self.table(curve_quantiles(traces), f"{name}_average_regret_curves")

    def claims(self, ledger: Ledger) -> None:
        """Write `claims.json`; ValueError if a claim is missing."""
        records = ledger.records()
        if self.folder:
            text = json.dumps(records, indent=1, ensure_ascii=False) + "\n"
            paths.write_text(self.folder / "claims.json", text)


@dataclass
class Ledger:
    """The claims of one notebook and what became of them in this run."""

    claims: dict[str, Claim]
    entries: dict[str, dict] = field(default_factory=dict)

    def judge(self, claim_id: str, estimate: Estimate, note: str = "") -> str:
        """Record the estimate of a claim and return its verdict."""
        interval = None if estimate.low == estimate.high else [estimate.low, estimate.high]
        return self._enter(claim_id, self.claims[claim_id].verdict(estimate), estimate.value, interval, note)

    def not_evaluated(self, claim_id: str, why: str) -> str:
        """Record that a claim was not evaluated, and why."""
        return self._enter(claim_id, "not evaluated", None, None, why)

    def _enter(self, claim_id: str, verdict: str, value: float | None, interval: list | None, note: str) -> str:
        claim = self.claims[claim_id]
        self.entries[claim_id] = {
            "id": claim.id,
            "where": claim.where,
            "claim": claim.claim,
            "statistic": claim.statistic,
            "value": value,
            "interval": interval,
            "rule": {"reproduced": claim.reproduced, "partly": claim.partly},
            "verdict": verdict,
            "note": note,
        }
        return verdict

    def records(self) -> list[dict]:
        """Return one record a claim, in the order of the rules; ValueError if a claim has none."""
        missing = [i for i in self.claims if i not in self.entries]
        if missing:
            raise ValueError(f"claim {missing[0]} was neither judged nor marked as not evaluated")
        return [self.entries[i] for i in self.claims]

    def table(self) -> pd.DataFrame:
        """Return the verdicts as a table with rounded numbers."""
        rows = [(r["id"], r["claim"], shown(r), r["verdict"]) for r in self.records()]
        return pd.DataFrame(rows, columns=["id", "claim", "value [95 % interval]", "verdict"]).set_index("id")
