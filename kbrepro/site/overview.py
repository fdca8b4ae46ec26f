"""The first page of the site: what came out, paper by paper, what was not done, which run this is."""

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kbrepro import paths
from kbrepro.site import try_it
from kbrepro.site.pages import coloured, figure, inside, linked, title
from kbrepro.verdicts import scorecard

WHAT = (
    "We rewrote the algorithms of papers on Gaussian-process bandits (Bayesian optimisation with regret bounds) from "
    "scratch, ran their experiments, most at the papers' own scale, and judged their claims by written rules, many of "
    "which were changed after results had been seen. A code such as 1-D leads to the claim that supports a sentence."
)
#: Where to go from the first page, if that page is there.
NEXT = {"Every claim": "scorecard", "Rerun": "open_a_notebook", "Play": "try_it", "Your own problem": "own_problem"}
#: How many answers of a paper stand in view; what came out of each in a line stands above.
FIRST = 3
QUICK = (
    "**The answers below are those at full scale.** This is the report of a quick run, or of your own: the page of a "
    "paper shows that run, with the full-scale verdict next to each of its verdicts."
)
ALONE = "**These are numbers of a quick run, or of your own**: there is no full-scale run to compare them with."


def index(root: Path, results: Path, folders: Sequence[Path], files: Path) -> str:
    """Return the first page in Markdown; its pictures go to `files`, next to the page."""
    full = root / "results" / scorecard.FULL_SCALE
    runs, kept = scorecard.read(results), scorecard.read(full)
    quoted, source = (runs, results) if results == full or not kept else (kept, full)
    parts = ["# Do papers on Gaussian-process bandits hold up?"]
    if results != full:
        parts.append(f"```{{warning}}\n{QUICK if kept else ALONE}\n```")
    total = scorecard.totals(root, quoted) if scorecard.of_papers(quoted) else ""
    ids = {r["id"]: f"{name}.html" for name, run in quoted.items() for r in run["claims"]}
    parts += [WHAT, _next(root, folders), _to_claims(total.replace("<br>– ", "\n- "), ids), _totals(source, files)]
    parts += _across(root, quoted, ids)
    parts += [_across_the_page(folder, quoted[folder.name]) for folder in _others(folders, quoted)]
    papers = [folder for folder in folders if not scorecard.synthesis(runs[folder.name])]
    cards = [_card(root, folder, source / folder.name, quoted.get(folder.name), files) for folder in papers]
    parts += ["## Paper by paper", '<div class="papers">', *cards, "</div>"] if cards else []
    matrix = f'<div class="matrix">\n\n{_matrix(quoted, folders)}\n\n</div>'
    parts.append(scorecard.folded("All totals, and what the verdicts mean", matrix, scorecard.LEGEND))
    parts.append(scorecard.folded("Which of the papers' open choices matter", scorecard.ranked_choices(quoted)))
    parts.append(scorecard.folded("This run", _facts(folders), "" if source == results else _matrix(runs, folders)))
    return "\n\n".join(part for part in parts if part)


def _others(folders: Sequence[Path], quoted: Mapping[str, Any]) -> list[Path]:
    """The notebooks without a paper, if they were played at full scale."""
    return [folder for folder in folders if folder.name in quoted and scorecard.synthesis(quoted[folder.name])]


def _next(root: Path, folders: Sequence[Path]) -> str:
    """Where to go on reading."""
    there = {"scorecard"} | {path.stem for path in (root / "docs").glob("*.md")}
    there |= {try_it.PAGE} if try_it.scenes([folder.name for folder in folders]) else set()
    return "**Next:** " + " · ".join(f"[{words}]({page}.md)" for words, page in NEXT.items() if page in there)


def _to_claims(text: str, pages: Mapping[str, str]) -> str:
    """Return a text whose claims link to the pages that show them."""
    for claim, page in pages.items():
        text = linked(text, [claim], page)
    return text


def _across(root: Path, runs: Mapping[str, Any], pages: Mapping[str, str]) -> list[str]:
    """Conclusions from all papers together, with links to the claims that support them."""
    texts = [f"- {_to_claims(text.replace('](docs/', ']('), pages)}" for text in scorecard.across(root, runs)]
    return ["## What to use on Monday", "\n".join(texts)] if texts else []


def _matrix(runs: Mapping[str, Any], folders: Sequence[Path]) -> str:
    links = {folder.name: f"{{doc}}`{folder.name}`" for folder in folders}
    return coloured(scorecard.matrix({links.get(notebook, notebook): run for notebook, run in runs.items()}))


def _totals(source: Path, files: Path) -> str:
    if not (picture := source / scorecard.TOTALS).is_file():
        return ""
    shutil.copy(picture, files)
    alt = "How many claims of each paper have which verdict"
    return f'<figure class="totals"><img src="{picture.name}" alt="{alt}"></figure>'


# A paper


def _card(root: Path, folder: Path, quoted: Path, run: Mapping[str, Any] | None, files: Path) -> str:
    """One paper: its first answers and, folded, the others, a figure. Its totals stand above all cards."""
    heading, named = title(folder)
    parts = ['<div class="paper">', f'<h3><a href="{folder.name}.html">{heading}</a></h3>', inside(root, named)]
    if run is None:
        parts.append("There is no full-scale run of it.")
    else:
        parts += _answers(run, FIRST, "More of what came out")
        parts.append(_headline(quoted, folder.name, files))
    ids = [r["id"] for r in run["claims"]] if run else []
    text = "\n\n".join(part for part in parts if part)
    return linked(text, ids, f"{folder.name}.html") + "\n\n</div>"


def _across_the_page(folder: Path, run: Mapping[str, Any]) -> str:
    """A notebook without a paper: its first answer, the others folded, its totals."""
    parts = ['<div class="synthesis">', f'<h3><a href="{folder.name}.html">{title(folder)[0]}</a></h3>']
    parts += _answers(run, 1, "More of what it found")
    text = "\n\n".join([*parts, f"{scorecard.summary(run['claims'])}."])
    return linked(text, [r["id"] for r in run["claims"]], f"{folder.name}.html") + "\n\n</div>"


def _answers(run: Mapping[str, Any], n: int, more: str) -> list[str]:
    """The first n answers of a run, and the others folded."""
    answers = [f"- {answer}" for answer in scorecard.answers(run)]
    folded = scorecard.folded(more, "\n".join(answers[n:])) if answers[n:] else ""
    return [*filter(None, ["\n".join(answers[:n]), folded])]


def _headline(quoted: Path, name: str, files: Path) -> str:
    """Copy the figure that a notebook named headline_... and return the HTML that shows it."""
    for picture in sorted(quoted.glob("figures/headline*.svg"))[:1]:
        paths.write_bytes(files / "headlines" / name / picture.name, picture.read_bytes())
        return figure(quoted, picture.stem, f"headlines/{name}")
    return ""


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
