"""Janz, Burt and González (2020), the paper on π-GP-UCB; its Table 1 beside ours, as pages show it."""

from pathlib import Path

from kbrepro import paths
from kbrepro.papers import Paper, Rows

#: The time of one run in Table 1, d = 1, 2, 3, IGP-UCB before π-GP-UCB.
_PRINTED_TIMES = ("82 min", "12 min", "118 min", "97 s", "30 h", "29 min")


def table_1(run: Path) -> Rows:
    """Return Table 1, printed and ours."""
    head = ["d", "algorithm", "paper", "here", "runs", "time, paper", "time, here"]
    shares = {_entry(row): row for row in _csv(run, "table1") if row["lengthscale"] == "usual"}
    printed = {_entry(row): float(row["printed"]) for row in _csv(run, "table1_beside_printed")}
    seconds = {_entry(row): float(row["seconds a run"]) for row in _csv(run, "seconds")}
    rows = [
        [*key, f"{printed[key]:.2f}", _share(row, "mean of ratios"), row["runs"], its_time, f"{seconds[key]:.2g} s"]
        for (key, row), its_time in zip(shares.items(), _PRINTED_TIMES, strict=bool(shares))
    ]
    return [head, *rows]


def since(run: Path) -> Rows:
    """Return the entries of Table 1 as later theory changes them."""
    changes = {"published": "as published", **{name: name for name in ("tighter width", "both")}}
    played = {(row["change"], *_entry(row)): _share(row, "share") for row in _csv(run, "since_the_paper")}
    entries = [key[1:] for key in played if key[0] == "published"]
    rows = [[*key, *(played.get((change, *key), "") for change in changes)] for key in entries]
    return [["d", "algorithm", *changes.values()], *rows]


def _csv(run: Path, name: str) -> list[dict[str, str]]:
    return paths.read_rows(run / "tables" / f"{name}.csv")


def _entry(row: dict[str, str]) -> tuple[str, str]:
    return row["d"], row["algorithm"]


def _share(row: dict[str, str], value: str) -> str:
    return "{:.3f} [{:.3f}, {:.3f}]".format(*(float(row[key]) for key in (value, "low", "high")))


FAMILIES = {
    "#083098": {"π-GP-UCB": "-", "π-GP-UCB, thesis": "--", "π-GP-UCB, both": "-."},
    "#702020": {"IGP-UCB, lambda grows": ":", "IGP-UCB, both": "-."},
}
BESIDE = ("IGP-UCB", "IGP-UCB, tighter", "mini-GP-UCB", "exact")
BLOCKS = {"table 1": table_1, "since": since}
PAPER = Paper("03_pi_gp_ucb_scaling", "π-GP-UCB", FAMILIES, BESIDE, BLOCKS)
