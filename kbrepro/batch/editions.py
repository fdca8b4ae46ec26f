"""Editions: rules and settings of a notebook, frozen with a root seed before its full-scale run is first seen.

The seed is computed from what decides (rules, scale, needs, interpretations) and the settings of the full-scale
profile, and stays for the whole edition. A rule that changes afterwards is judged on the same trials and marked as
revised.
"""

import json
import re
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from kbrepro import paths, store
from kbrepro.batch import profiles, provenance
from kbrepro.verdicts import claims
from kbrepro.verdicts.scorecard import FULL_SCALE

HISTORY = "results/history.csv"
COLUMNS = ("notebook", "edition", "profile", "date", "commit", "seed", *claims.VERDICTS, "why")


def history(root: Path) -> list[dict[str, str]]:
    """Return one row per full-scale run that was ever seen, oldest first in each notebook; empty without a file."""
    return paths.read_rows(root / HISTORY)


def seed_of(rules: claims.Rules, settings: Mapping[str, Any]) -> int:
    """Return the root seed, computed from what decides and from the settings of the full-scale profile."""
    counts = {name: value for name, value in settings.items() if name != "seed"}
    return int(claims.digest({"rules": rules.deciding, "settings": counts})[:8], 16)


def open_new(root: Path, notebook: str, name: str, why: str) -> int:
    """Freeze the current rules of a notebook under the name of an edition; return the new root seed.

    Writes the edition, the seed in the full-scale profile and a line of the history, and empties the notebook's
    full-scale store, which belongs to the edition before. Commit all of it before anything is played. Raises ValueError
    if neither rules nor settings have changed since the edition before.
    """
    path = root / "notebooks" / "claims" / f"{notebook}.yaml"
    rules, settings = claims.load(path), profiles.of_profile(root, notebook, FULL_SCALE)
    seed = seed_of(rules, settings)
    if rules.edition and rules.edition.seed == seed:
        raise ValueError(f"{notebook}: nothing that decides has changed since edition {rules.edition.name}")
    frozen = {"name": name, "seed": seed, "claims": rules.deciding["claims"]}
    paths.write_text(claims.edition_path(path), json.dumps(frozen, indent=1, ensure_ascii=False) + "\n")
    profile = root / "notebooks" / "profiles" / FULL_SCALE / f"{notebook}.yaml"
    text = re.sub(r"(?m)^seed: *\d+", f"seed: {seed}", profile.read_text(encoding="utf-8"))
    paths.write_text(profile, text)
    commit = (provenance.git_state(root)["commit"] or "")[:7]
    row = dict.fromkeys(COLUMNS, "") | {"notebook": notebook, "edition": name, "profile": FULL_SCALE}
    row |= {"date": date.today().isoformat(), "commit": commit, "seed": str(seed), "why": why}
    _write(root, [*history(root), row])
    shutil.rmtree(root / "results" / FULL_SCALE / notebook / store.PLAYED, ignore_errors=True)
    return seed


def note_verdicts(root: Path, notebook: str, verdicts: Sequence[str]) -> None:
    """Write the number of claims per verdict into the line of the edition that was played; nothing if it has none."""
    rows, counts = history(root), Counter(verdicts)
    for row in reversed(rows):
        if row["notebook"] == notebook:
            row |= {verdict: str(counts[verdict]) for verdict in claims.VERDICTS}
            _write(root, rows)
            return


def _write(root: Path, rows: Sequence[Mapping[str, str]]) -> None:
    """The rows by notebook, in the order in which they came."""
    paths.write_rows(root / HISTORY, sorted(rows, key=lambda row: row["notebook"]))
