"""An edition: its criteria are frozen, its labels are played once with the seed that follows from
them, and then it replaces the results that are shown.

The rules are frozen first, for all notebooks: claims and what judges them. What a notebook plays
next is `kbrepro/papers/NAME/next/` and `notebooks/next/NOTEBOOK.py`, and its trials are in
`results/next/`. It is no preregistration: the criteria were written by people who knew the results
of the edition before.
"""

import hashlib
import json
import re
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kbrepro import checks, paths
from kbrepro.batch import profiles
from kbrepro.batch.plans import plan_of, remembering
from kbrepro.batch.profiles import Run
from kbrepro.batch.run import git_state
from kbrepro.claims import judging, replication, scorecard, tables, words
from kbrepro.claims.digests import code_of, frozen
from kbrepro.claims.judging import Claim, Theorem, sentences_of
from kbrepro.claims.tables import Kept
from kbrepro.data.store import load
from kbrepro.papers import folder_of
from kbrepro.trials import store, sums
from kbrepro.trials.store import PLAYED, Played, Store
from kbrepro.trials.store.settings import unknown

EDITION = "1.0"
#: What all notebooks share is frozen here.
RULES = f"results/edition-{EDITION}.json"
JUDGES = (words, tables, replication, judging)
#: Seed of a pilot, which no edition has.
PILOT = 0
#: The profile of one experiment of the paper's size.
ONCE = "once"


def freeze_rules(root: Path, reason: str = "") -> Path:
    """Write digests of what judges all notebooks, and of all their sentences, to `RULES`.

    ValueError if they are frozen and there is no reason to do it again, or if files have changes
    that are not committed.
    """
    sentences = {}
    for notebook in profiles.named_notebooks(root, []):
        sentences[notebook] = _digests(root, notebook)
    return _freeze(root, root / RULES, {"judges": _judges(), "sentences": sentences}, [], reason)


def freeze_notebook(root: Path, notebook: str, reason: str = "") -> Path:
    """Write digests of the sentences of a notebook, as the rules have them, and of the settings of
    its labels, with the root seed that follows from them, to its
    `results/next/NOTEBOOK/played/edition.json`.

    ValueError if the rules are not frozen, or like `freeze_rules`.
    """
    (r,) = profiles.plan([notebook], paths.NEXT, root)
    rules = _rules(root)
    sentences = rules["sentences"][notebook]
    content: dict[str, Any] = {"sentences": sentences, "labels": _settings(r)}
    seeds = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).digest()
    content["seed"] = int.from_bytes(seeds[:4], "big")
    content["seed of another rerun"] = int.from_bytes(seeds[4:8], "big")
    return _freeze(root, r.played / paths.EDITION, content, rules["frozen"], reason)


def _judges() -> dict[str, str]:
    """What is frozen of the code that judges, by module."""
    return {module.__name__: code_of(Path(str(module.__file__))) for module in JUDGES}


def _rules(root: Path) -> dict[str, Any]:
    rules = paths.facts_of(root / "results", Path(RULES).name)
    if not rules:
        raise ValueError("the rules are not frozen: `kbrepro freeze rules` does it")
    return rules


def _freeze(
    root: Path, path: Path, content: dict[str, Any], earlier: list[dict[str, str]], reason: str
) -> Path:
    """Write what is frozen; what was frozen before must have been another thing, and the reason
    is kept. To freeze a notebook is no other freeze than the `earlier` ones of the rules, at first.
    """
    _require_committed(root)
    before = paths.facts_of(path.parent, path.name)
    place = path.relative_to(root).as_posix()
    times = before.get("frozen", earlier)
    if before or not earlier:
        times = [*times, {"on": time.strftime("%Y-%m-%d"), "why": reason}]
    if before and {**before, **content} == before:
        raise ValueError(f"{place} is frozen, and nothing differs from it")
    if before and not reason:
        raise ValueError(f"{place} is frozen: to freeze another one needs a --reason")
    text = json.dumps({"edition": EDITION, "frozen": times} | content, indent=1, ensure_ascii=False)
    paths.write_text(path, text + "\n")
    return path


def _require_committed(root: Path) -> None:
    """ValueError unless all files but results are as they are committed."""
    if git_state(root)["dirty"] is not False:
        raise ValueError("files have changes that are not committed: commit them first")


def _digests(root: Path, notebook: str) -> dict[str, str]:
    """What is frozen of every sentence of a notebook, of the next edition if there is one."""
    return {sentence.id: frozen(sentence) for sentence in _sentences(root, notebook)}


def _sentences(root: Path, notebook: str) -> Sequence[Claim | Theorem]:
    folder = folder_of(notebook)
    has_next = (root / f"kbrepro/papers/{folder}/{paths.NEXT}").is_dir()
    return sentences_of(f"{folder}.{paths.NEXT}" if has_next else folder)


def _settings(r: Run) -> dict[str, str]:
    """A digest of the settings of every label, as they are with the seed of a pilot; numbers count
    by six digits, since another processor rounds in another way. ValueError if sensor data that
    they are computed from is not here.
    """
    loads = remembering(r.kept_in)
    plan = plan_of(r.notebook, {**r.parameters, "seed": PILOT}, loads, r.edition)
    digests = {}
    for label, planned in plan.items():
        content = planned.job(label).settings
        if unknown(content):
            raise ValueError(
                f"{r.notebook}: the settings of {label} lack sensor data (see data/README.md)"
            )
        text = json.dumps(scorecard.rounded(content), sort_keys=True)
        digest = hashlib.sha256(text.encode()).hexdigest()[:16]
        digests[label] = f"{digest} of {planned.trials} trials"
    return digests


def require_frozen(r: Run) -> list[str]:
    """Return a line if sentences of a notebook, or what judges them, are not as they were frozen.

    ValueError if the edition is not frozen, if the settings of labels are not the frozen ones, or
    if files have changes that are not committed.
    """
    edition = paths.facts_of(r.played, paths.EDITION)
    number = r.notebook[:2]
    if not edition:
        raise ValueError(f"{r.notebook} is not frozen: `kbrepro freeze {number}` does it")
    _require_committed(r.root)
    if others := _differing(_settings(r), edition["labels"]):
        raise ValueError(
            f"{r.notebook}: the settings of {', '.join(others)} are not the frozen ones"
        )
    changed = _differing(_judges(), _rules(r.root)["judges"])
    changed += _differing(_digests(r.root, r.notebook), edition["sentences"])
    return [f"{number}: changed since the rules were frozen: {', '.join(changed)}"] * bool(changed)


def _differing(now: Mapping[str, str], then: Mapping[str, str]) -> list[str]:
    """Names whose digests differ, or that one of the two lacks."""
    return [name for name in {**then, **now} if now.get(name) != then.get(name)]


def progress(root: Path, notebooks: Sequence[str]) -> Iterator[str]:
    """Yield a line for each notebook, of those named or of all, whose next edition is frozen: how
    many of its labels were played, and the CPU hours that the others take at least, by those of the
    edition that is shown.
    """
    for notebook in profiles.named_notebooks(root, notebooks):
        played = root / f"results/{paths.NEXT}/{notebook}/{PLAYED}"
        edition = paths.facts_of(played, paths.EDITION)
        if not edition:
            continue
        frozen_labels = edition["labels"]
        there = store.labels(played).keys() & frozen_labels.keys()
        shown = store.labels(root / f"results/{paths.FULL_SCALE}/{notebook}/{PLAYED}")
        seconds = 0.0
        for label in shown.keys() & (frozen_labels.keys() - there):
            n = int(frozen_labels[label].split()[2])
            seconds += shown[label]["seconds"] / shown[label]["trials"] * n
        yield (
            f"next, {notebook[:2]}: {len(there)} of {len(frozen_labels)} labels, at least"
            f" {seconds / 3600:.1f} core hours to go"
        )


def put_in_place(root: Path, notebook: str) -> None:
    """Put the next edition of a notebook in the place of the one that is shown: plan, claims, text,
    trials. What is shown of it is made anew by `kbrepro reproduce`.

    ValueError if a label is missing, or was played with another seed or changed since, or like
    `require_frozen`.
    """
    (r,) = profiles.plan([notebook], paths.NEXT, root)
    require_frozen(r)
    plan, missing = r.plan, []
    for label, planned in plan.items():
        if not isinstance(r.kept_in.find(planned.job(label), settings_alone=True), Played):
            missing.append(label)
    if missing:
        raise ValueError(f"{notebook} lacks {len(missing)} of {len(plan)} labels: {missing[0]}")
    if wrong := [line for line in sums.wrong(r.played) if not line.startswith(paths.EDITION)]:
        raise ValueError(f"{notebook}: {wrong[0]}")
    folder = folder_of(notebook)
    paper = root / f"kbrepro/papers/{folder}"
    files = {path: paper / path.name for path in paper.glob(f"{paths.NEXT}/[!_]*.py")}
    draft = root / f"notebooks/{paths.NEXT}/{notebook}.py"
    files[draft] = root / f"notebooks/{notebook}.py"
    for path, place in files.items():
        text = path.read_text(encoding="utf-8").replace(f"{folder}.{paths.NEXT}", folder)
        text = re.sub(r"^(seed: int = )\d+", rf"\g<1>{r.parameters['seed']}", text, flags=re.M)
        paths.write_text(place, text)
        path.unlink()
    shutil.rmtree(paper / paths.NEXT)
    shown = root / f"results/{paths.FULL_SCALE}/{notebook}"
    shutil.rmtree(shown / PLAYED)
    (shown / "run.json").unlink(missing_ok=True)
    r.played.rename(shown / PLAYED)
    r.folder.rmdir()
    sums.write(shown / PLAYED)


def not_evaluated(root: Path, notebook: str) -> Iterator[str]:
    """Play one experiment of the paper's size, with a seed that no edition has, and yield a line
    for every sentence that its trials cannot judge; no number of a result.
    """
    (r,) = profiles.plan([notebook], paths.NEXT, root)
    with _played_once(r, PILOT) as kept:
        for sentence in _sentences(root, notebook):
            try:
                scorecard.record_of(sentence, kept)
            except Exception as error:  # whatever a predicate does
                yield _not_judged(sentence, error)


def play_again(root: Path, notebook: str) -> Iterator[str]:
    """Play one experiment of the paper's size, with the second seed that was frozen, and keep which
    observations hold in it; yield a line for each that it cannot say.

    ValueError if the edition that is shown was not frozen.
    """
    (r,) = profiles.plan([notebook], paths.FULL_SCALE, root)
    edition = paths.facts_of(r.played, paths.EDITION)
    if not edition:
        raise ValueError(f"{notebook} was not frozen before it was played")
    held = {}
    with _played_once(r, edition["seed of another rerun"]) as kept:
        for sentence in sentences_of(folder_of(notebook)):
            if isinstance(sentence, Claim) and sentence.kind == "observation":
                try:
                    held[sentence.id] = judging.held_once(sentence, kept)
                except Exception as error:  # whatever a predicate does
                    yield _not_judged(sentence, error)
    paths.write_text(r.played / paths.RERUN, json.dumps(held, indent=1) + "\n")
    sums.write(r.played)


def _not_judged(sentence: Claim | Theorem, error: Exception) -> str:
    return f"{sentence.id} does not evaluate ({type(error).__name__}: {error})"


@contextmanager
def _played_once(r: Run, seed: int) -> Iterator[Kept]:
    """The trials of one experiment of the paper's size, which are not kept."""
    small = profiles.values_of(r.root, r.notebook, ONCE) | {"seed": seed}
    for name in small:
        checks.one_of(r.parameters, **{f"parameter of {r.notebook}": name})
    parameters = r.parameters | small
    plan = plan_of(r.notebook, parameters, load, r.edition)
    with tempfile.TemporaryDirectory() as folder:
        for label, planned in plan.items():
            planned.play(label, Store(Path(folder)))
        yield Kept(Path(folder), parameters, lambda: plan)
