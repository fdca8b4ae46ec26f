"""How a page ends: all numbers of the run, how to rerun exactly this, how to cite it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml

from kbrepro.batch import profiles
from kbrepro.verdicts import scorecard


def numbers(folder: Path) -> str:
    """Return a section with a link to every table of a run; nothing where it wrote none."""
    links = [f'<a href="{folder.name}/tables/{p.name}">{p.name}</a>' for p in sorted(folder.glob("tables/*.csv"))]
    return "## The numbers\n\nEvery table of this run: " + ", ".join(links) + "." if links else ""


def rerun(root: Path, folder: Path, run: dict[str, Any]) -> str:
    """Return a section with command, commit, parameters, versions and checksums of a run, as `run.json` has them."""
    if "parameters" not in run:
        return ""
    settings = "".join(f" --set '{name}={json.dumps(value)}'" for name, value in _overridden(root, folder, run).items())
    command = f"kbrepro reproduce {folder.name[:2]} --profile {run['profile']}{settings}"
    git = run["git"]
    lines = [f"git checkout {git['commit']}"] if git["commit"] else []
    spent = f"The run took {run['seconds'] / 60:.1f} min, all its trials {run.get('compute_seconds', 0) / 60:.0f} min; "
    spent += "trials that were played earlier are read."
    changed = " Some files differed from that commit." if git["dirty"] else ""
    facts = {"Parameters": run["parameters"], "Versions": run["versions"], "Data (SHA-256)": run["data"]}
    folded = [_folded(name, its) for name, its in facts.items() if its]
    shell = "\n".join(["```sh", *lines, command, "```"])
    return "\n\n".join(["## How to rerun exactly this", shell, spent + changed, *folded])


def _folded(name: str, facts: dict[str, Any]) -> str:
    rows = scorecard.table(["", ""], [(f"`{key}`", f"`{value}`") for key, value in facts.items()])
    return f"<details><summary>{name}</summary>\n\n{rows}\n\n</details>"


def _overridden(root: Path, folder: Path, run: dict[str, Any]) -> dict[str, Any]:
    """The settings of a custom run that are not those of its profile."""
    if folder.parents[1].name != "custom":
        return {}
    _, defaults = profiles.defaults(root, folder.name)
    usual = defaults | profiles.of_profile(root, folder.name, run["profile"])
    return {name: value for name, value in run["parameters"].items() if usual.get(name) != value}


def cite(root: Path, notebook: str) -> str:
    """Return a section that names this replication and the paper of a notebook, from CITATION.cff."""
    file = root / "CITATION.cff"
    if not file.is_file():
        return ""
    cff = yaml.safe_load(file.read_text(encoding="utf-8"))
    papers = [paper for paper in cff["references"] if notebook in paper["notes"]]
    cited = [f"- {_names(its)}. *{its['title']}*. {its.get('collection-title', '')} {its['year']}." for its in papers]
    own = f"- {_names(cff)}. *{cff['title']}*, version {cff['version']}."
    return "\n".join(["## How to cite", "", "This replication, and the paper:", "", own, *cited])


def _names(entry: dict[str, Any]) -> str:
    return ", ".join(a.get("name") or f"{a['given-names']} {a['family-names']}" for a in entry["authors"])
