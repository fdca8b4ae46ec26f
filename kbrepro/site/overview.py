"""The first page of the site: verdicts, what failed and why, what later theory changes, which run this is."""

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kbrepro import paths
from kbrepro.site.pages import coloured, figure, inside, linked, title
from kbrepro.verdicts import scorecard

WHAT = (
    "Papers on kernelized (Gaussian-process) bandits, implemented and run again from scratch, a notebook each. "
    "Every claim listed here had its rule before the run that judges it; its verdict is computed from 95 % intervals. "
    "This page says what came out, what did not and why; a page per paper has the experiments."
)
QUICK = (
    "**These are quick numbers**: fewer and shorter trials, a check that everything runs. **Quote the committed "
    "full-scale runs**, whose verdicts this page shows; the page of a paper shows this run, and beside each of its "
    "verdicts that at full scale."
)
ALONE = "**These are numbers of a run of your own, or quick ones**: no full-scale run is here to show beside them."


def index(root: Path, results: Path, folders: Sequence[Path], files: Path) -> str:
    """Return the first page in Markdown; what it shows besides goes to `files`, beside the page."""
    full = root / "results" / scorecard.FULL_SCALE
    runs, of_record = scorecard.read(results), scorecard.read(full)
    quoted, source = (runs, results) if results == full or not of_record else (of_record, full)
    name = "full-scale" if results == full else results.relative_to(root / "results").as_posix()
    parts = ["---\nhtml_theme.sidebar_secondary.remove: true\n---", f"# kbrepro: the {name} run"]
    if results != full:
        parts.append(f"```{{warning}}\n{QUICK if of_record else ALONE}\n```")
    parts += [WHAT, scorecard.folded("What the verdicts mean", scorecard.LEGEND)]
    parts += ["## Verdicts" + (" at full scale" if source == full else ""), _matrix(quoted, folders)]
    cards = [_card(root, folder, source / folder.name, quoted.get(folder.name), files) for folder in folders]
    parts += ["## Paper by paper", '<div class="papers">', *cards, "</div>"]
    parts += [scorecard.ranked_choices(quoted), _all_parts(source, files), "## This run", _facts(folders)]
    parts += [] if source == results else ["What it found:", _matrix(runs, folders)]
    return "\n\n".join(part for part in parts if part)


def _matrix(runs: Mapping[str, Any], folders: Sequence[Path]) -> str:
    links = {folder.name: f"{{doc}}`{folder.name}`" for folder in folders}
    text = scorecard.matrix({links.get(notebook, notebook): run for notebook, run in runs.items()})
    return f'<div class="matrix">\n\n{text}\n\n</div>'


def _all_parts(source: Path, files: Path) -> str:
    if not (picture := source / scorecard.PICTURE).is_file():
        return ""
    shutil.copy(picture, files)
    alt = "Every part of every claim by its distance to the rule, holding to the right"
    image = f'<figure><img src="{picture.name}" alt="{alt}"></figure>'
    return f"## Every part of every claim\n\n<details><summary>{alt}</summary>{image}</details>"


# A paper


def _card(root: Path, folder: Path, quoted: Path, run: Mapping[str, Any] | None, files: Path) -> str:
    """One paper: a sentence, a figure, what failed and why, what later theory changes."""
    heading, named = title(folder)
    parts = ['<div class="paper">', f'<h3><a href="{folder.name}.html">{heading}</a></h3>', inside(root, named)]
    if run is None:
        parts.append("No full-scale run of it is here.")
    else:
        first = next((r for r in run["claims"] if r.get("headline") and r["finds"]), None)
        said = f"{first['mark']} ({first['id']}): *{first['says']}* {first['finds']}" if first else ""
        parts += [f"{scorecard.summary(run['claims'])}.", said, _headline(quoted, folder.name, files)]
        parts += [*_failures(run["claims"]), *_since(run["claims"])]
    ids = [r["id"] for r in run["claims"]] if run else []
    text = "\n\n".join(part for part in parts if part)
    return coloured(linked(text, ids, f"{folder.name}.html")) + "\n\n</div>"


def _headline(quoted: Path, name: str, files: Path) -> str:
    """Copy the figure that a notebook named headline_... and return the HTML that shows it."""
    for picture in sorted(quoted.glob("figures/headline*.svg"))[:1]:
        paths.write_bytes(files / "headlines" / name / picture.name, picture.read_bytes())
        return figure(quoted, picture.stem, f"headlines/{name}")
    return ""


def _failures(records: Sequence[Mapping[str, Any]]) -> list[str]:
    """What did not come out, by verdict, each with the reason; our own questions are not among it."""
    lists: list[str] = []
    for verdict in scorecard.FAILED:
        its = [r for r in records if r["verdict"] == verdict and r["counts_as"] not in ("own question", "sanity check")]
        lists += _listed(verdict.capitalize(), [f"- {r['id']}{r['aside']} *{r['says']}* {r['reason']}" for r in its])
    return lists or ["Nothing failed."]


def _since(records: Sequence[Mapping[str, Any]]) -> list[str]:
    lines = []
    for r in (r for r in records if r["where"].startswith("since the paper") and r["finds"]):
        since = r["where"].removeprefix("since the paper").lstrip(": ")
        lines.append(f"- {r['mark'].removesuffix(r['aside'])} {r['id']} *{r['says']}* {r['finds']} ({since})")
    return _listed("What later theory changes", lines)


def _listed(heading: str, lines: Sequence[str]) -> list[str]:
    return [f"**{heading}**", "\n".join(lines)] if lines else []


# The run


def _facts(folders: Sequence[Path]) -> str:
    rows = []
    for folder in folders:
        run = scorecard.read_run(folder)["facts"]
        commit = f"`{(run['git']['commit'] or 'none')[:9]}`{' and changes' if run['git']['dirty'] else ''}"
        data = ", ".join(sorted({Path(name).parts[0] for name in run["data"]})) or "simulated substitute data"
        times = [f"{run[key] / 60:.1f}" for key in ("seconds", "compute_seconds")]
        rows.append([f"{{doc}}`{folder.name}`", run["profile"], data, commit, *times])
    return scorecard.table(["", "profile", "sensor data found", "commit", "minutes", "minutes of all trials"], rows)
