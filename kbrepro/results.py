"""Where a notebook leaves its figures, tables and verdicts; nowhere, unless it was given a folder."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from kbrepro import paths
from kbrepro.claims import Ledger
from kbrepro.comparisons import final_average_regret
from kbrepro.simulation import Trace

#: Rounds at which curves are tabulated.
N_TABULATED = 60


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


def curve_quantiles(traces: dict[str, Trace]) -> pd.DataFrame:
    """Return mean and quartiles over trials of R_t / t at about 60 rounds, indexed by policy and round."""
    parts = {}
    for policy, trace in traces.items():
        curves = trace.average_regret
        rounds = np.unique(np.geomspace(1, curves.shape[1], N_TABULATED).astype(int))
        quartiles = np.quantile(curves[:, rounds - 1], [0.25, 0.5, 0.75], axis=0)
        columns = {"mean": curves[:, rounds - 1].mean(axis=0)}
        columns |= dict(zip(["q25", "median", "q75"], quartiles, strict=True))
        parts[policy] = pd.DataFrame(columns, index=pd.Index(rounds, name="round"))
    return pd.concat(parts, names=["policy"])
