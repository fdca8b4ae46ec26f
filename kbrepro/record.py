"""Where a notebook leaves its figures, tables and verdicts; nowhere, unless it was given a folder."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from kbrepro import paths
from kbrepro.claims import Claim, shown
from kbrepro.regret import Estimate, Trace, curve_quantiles, final_average_regret


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
