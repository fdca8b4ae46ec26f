"""What a notebook shows and leaves: verdicts, checked sentences, figures and tables."""

import io
import json
import re
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from textwrap import shorten
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from IPython.display import Image, Markdown, display
from matplotlib.figure import Figure
from PIL import Image as Pixels

from kbrepro import checks, figures, paths
from kbrepro.batch import plans
from kbrepro.claims import scorecard
from kbrepro.claims.judging import sentences_of
from kbrepro.claims.tables import Kept, Unlike
from kbrepro.papers import folder_of, looks
from kbrepro.trials.replay import Replays
from kbrepro.trials.store import PLAYED, Played, Store

#: A picture is kept while no pixel differs from the new one by more, of 255: another processor
#: colours edges so.
UNSEEN = 10
#: Digits that no result moves: addresses, places in a paper, years.
REFERENCES = re.compile(
    r"\]\([^)]*\)|\b(?:19|20)\d\d\b"
    r"|\b(?:Tables?|Figs?\.|[Ee]qs?\.|Lemmas?|Theorems?|Sections?) [\d.]*\d"
)
#: A number of a text.
NUMBER = r"\d[\d.,]*\d|\d"
#: Below the first verdicts of a notebook.
HOW_TO = (
    scorecard.MEANS + " *Stored* are the trials that we played; a rerun has as many of them as the"
    " paper played. Numbers in brackets are 95 % intervals. Sentences of one *finding* are also"
    " judged together, in [every claim](../results/README.md). Beside a theorem stands the"
    " largest share of its bound that a run reached. [Words](../docs/claims.md#words) such as *on"
    " par* have limits in numbers."
)


class Record:
    """The record of one notebook's run: its plan and trials, what it judges, and the folder that it
    writes to.

    `parameters` are the notebook's, by name; `plan` is what is played with them, by label, and
    `readings_of(name, ...)` returns sensor data as the plan has it: if it is not here, what is
    remembered or a substitute. A label with the settings of the full scale is read
    from `results/paper/<notebook>/played`, one of its trials is replayed, and what rests on such
    labels alone is judged. With changed parameters all others are played. `results_dir` is relative
    to the project's root: figures and tables go there, and what is played is kept in its `played/`;
    if it is empty, nothing is written.
    """

    def __init__(self, notebook: str, parameters: Mapping[str, Any]) -> None:
        figures.use_style(looks())
        root = paths.checkout()
        self.notebook, self.parameters = notebook, parameters
        self.full_scale = root / f"results/{paths.FULL_SCALE}/{notebook}"
        _require_known(parameters)
        results_dir = parameters["results_dir"]
        self.folder = root / results_dir if results_dir else None
        own = paths.whole_of(self.folder) if self.folder else self.full_scale
        elsewhere = own != self.full_scale
        facts = paths.facts_of(self.full_scale)
        played = facts.get("parameters", {}) if elsewhere or not self.folder else parameters
        self.changed = {
            name: value for name, value in played.items() if parameters.get(name, value) != value
        }
        self.short = bool(self.changed) or (elsewhere and not facts)
        self._replays = Replays(root, self.full_scale)
        self._full = Store(self.full_scale / PLAYED, read_only=True, on_read=self._replays)
        self._own = Store(own / PLAYED, on_read=Replays(root, own)) if elsewhere else None
        self.plan, self.readings_of = plans.with_data(notebook, parameters, self._full, self.short)
        # a label that is as at full scale is so in this plan
        self._kept = Kept(self._full.folder, played or parameters, lambda: self.plan, self._unlike)
        self._text = _checked_text(root / f"notebooks/{notebook}.py")
        self._unchecked, self._wrong = [*self._text], list[str]()
        self._explained = False
        self._judged = list[scorecard.Row]()
        if self.short:
            names = sorted(
                self.changed, key=lambda name: name not in ("trials", "chains", "horizon")
            )
            pairs = [f"{name} is {parameters[name]!r}" for name in names]
            why = f" ({', '.join(pairs)})" if pairs else ""
            self._why = f"not the full scale{why}"
            display(Markdown(f"*The text describes the full scale, which this run is not{why}.*"))

    def play(self, label: str) -> Any:
        """Return the trials of a label, read or played: curves by rule, or what the job
        returned.
        """
        checks.one_of(self.plan, label=label)
        planned = self.plan[label]
        kept_in: Store | None = self._full
        if self.short:
            found = self._full.find(planned.job(label), settings_alone=True)
            kept_in = self._full if isinstance(found, Played) else self._own
        return planned.play(label, kept_in)

    def _unlike(self, label: str) -> str:
        """In what a label is not as at full scale; empty if it is."""
        if not self.short:
            return ""
        planned = self.plan.get(label)
        found = self._full.find(planned.job(label), settings_alone=True) if planned else None
        if found is None:
            return f"`{label}` is not in the plan of both scales"
        if isinstance(found, Played):
            return ""
        named = []
        for name, full in self.changed.items():
            now = self.parameters[name]
            if any(line.endswith(f"{name}: {full} before, {now} now") for line in found.places):
                named.append(f"{name} is {now!r}, at full scale {full!r}")
        why = "; ".join(named) or found.places[0]
        return f"`{label}` differs from the full scale ({why})"

    def verdicts(self, *ids: str) -> None:
        """Show for claims and theorems what the paper says, our number, and in how many reruns it
        comes out; of each that depends on an interpretation, all of them as a picture.

        What rests on a label that is not as at full scale is not judged, and said. ValueError on an
        unknown claim.
        """
        sentences = {sentence.id: sentence for sentence in sentences_of(folder_of(self.notebook))}
        records, left = [], []
        for name in ids:
            checks.one_of(sentences, **{f"claim of {self.notebook}": name})
            try:
                records.append(scorecard.record_of(sentences[name], self._kept))
            except Unlike as error:
                left.append(f"{name} is not judged: {error}.")
        self._judged += records
        shown = [scorecard.tables(records)] if records else []
        if shown and not self._explained:
            shown.append(_folded("How to read this", HOW_TO))
            self._explained = True
        display(Markdown("\n\n".join([*shown, *left])))

    def check(self, words: str, holds: object = True) -> None:
        """Check a statement of the Markdown cells tagged `checked`: they must have these words,
        whose numbers come from the results, and it must hold.

        What is not so is shown here, and `finish` raises it. In a short run nothing is checked.
        """
        if self.short:
            return
        plain = _plain(words)
        if plain in self._text and holds:
            for found in re.finditer(re.escape(plain), self._text):
                self._unchecked[slice(*found.span())] = re.sub(r"\d", "_", found[0])
            return
        alike = [text for text in _sentences(self._text) if _masked(plain) in _masked(text)]
        stated = f"the text says “{alike[0]}”" if alike else "no checked text says it"
        results = f"the results say “{plain}”" if holds else f"“{plain}” does not hold"
        self._wrong.append(f"{results}; {stated}")
        display(Markdown(f"**Not so:** {self._wrong[-1]}."))

    def finish(self) -> None:
        """Show that a run was short, or what was not replayed; write all verdicts to claims.json.

        What moved against the one that is there is told on stderr. Numbers there have six digits
        (`scorecard.rounded`). ValueError names what the text says and
        the results do not, and what is left of a sentence of a cell tagged `checked` with a number
        that nothing checked.
        """
        if self.short:
            display(
                Markdown(
                    "Not all of the full scale was judged here; see the [full-scale"
                    f" notebook](../notebooks/{self.notebook}.ipynb)."
                )
            )
            return
        before = None
        with suppress(OSError, ValueError):  # none, or damaged: it is replaced
            before = paths.read_json(self.full_scale / "claims.json")
            for line in scorecard.moved(self._judged, before):
                print(line, file=sys.stderr)
        for sentence in _sentences("".join(self._unchecked)):
            if numbers := re.findall(NUMBER, REFERENCES.sub("", sentence)):
                self._wrong.append(
                    f"no record.check covers {' and '.join(numbers)} in {sentence!r}"
                )
        if self._wrong:
            raise ValueError(
                "\n".join([f"{self.notebook}: the text differs from the results", *self._wrong])
            )
        if long := self._replays.long:
            said = (
                "One trial of each label was played again, but for"
                f" {len(long)} whose trials are long"
            )
            display(Markdown(_folded(said, "; ".join(long))))
        if self.folder:
            found = scorecard.rounded(
                scorecard.of_paper(folder_of(self.notebook), self._kept), before
            )
            text = json.dumps(found, indent=1, ensure_ascii=False, default=float)
            paths.write_text(self.folder / "claims.json", text + "\n")

    def figure(self, figure: Figure, name: str) -> None:
        """Write a figure as `figures/<name>.png`, 200 dots an inch, show that, and close it.

        At full scale it is the committed picture while that looks the same; in a short run its
        title says what is not as at full scale.
        """
        if self.short:
            fits = int(11 * figure.get_size_inches()[0])
            note = shorten(self._why, fits, placeholder=" ...")
            figure.suptitle(f"{figure.get_suptitle()}\n{note}".strip())
        drawn = io.BytesIO()
        figure.savefig(drawn, dpi=200, facecolor="white")
        where = f"figures/{name}.png"
        picture = drawn.getvalue()
        if not self.short:
            picture = settled(self.full_scale / where, picture)
        if self.folder:
            paths.write_bytes(self.folder / where, picture)
        width = round(100 * figure.get_size_inches()[0])
        display(Image(_few_colours(picture), width=width, alt=figure.get_suptitle()))
        plt.close(figure)

    def table(self, table: pd.DataFrame, name: str) -> None:
        """Write `tables/<name>.csv`."""
        if self.folder:
            where = self.folder / f"tables/{name}.csv"
            paths.write_text(where, table.to_csv(float_format="%.6g"))


def _folded(summary: str, text: str) -> str:
    return f"<details><summary>{summary}</summary>\n\n{text}\n\n</details>"


def _require_known(names: Mapping[str, Any]) -> None:
    """Raise ValueError if papermill was given a name that the notebook's cell of parameters has
    not.
    """
    cells = names.get("In", [])  # so far
    parameters = re.findall(r"^(\w+): .* = ", "\n".join(cells), flags=re.M)
    for cell in cells:
        if cell.startswith("# Parameters\n"):
            for name in re.findall(r"^(\w+) = ", cell, flags=re.M):
                checks.one_of(parameters, parameter=name)


def _few_colours(picture: bytes) -> bytes:
    """The same picture in 256 colours, a third of the size: notebooks hold their pictures."""
    fewer = io.BytesIO()
    Pixels.open(io.BytesIO(picture)).convert("RGB").quantize(256).save(fewer, "png")
    return fewer.getvalue()


def _checked_text(path: Path) -> str:
    """The Markdown cells tagged `checked` of a notebook's .py, on one line, without emphasis and
    headings.
    """
    text = path.read_text(encoding="utf-8")
    cells = re.findall(r'^# %% \[markdown\].*"checked".*\n((?:#.*\n?)*)', text, flags=re.M)
    # without what makes a line a comment, a heading, or a point of a list
    return _plain(re.sub(r"^# ?(#.*|- )?", "", "\n".join(cells), flags=re.M))


def _plain(text: str) -> str:
    return " ".join(text.replace("*", "").split())


def _sentences(text: str) -> list[str]:
    return re.split(r"(?<=[.:?]) (?=[^\Wa-z\d])", text)


def _masked(text: str) -> str:
    """The text with # for each number."""
    return re.sub(NUMBER, "#", text)


def settled(path: Path, new: bytes) -> bytes:
    """Return the picture that is there while no pixel of the new one differs by more than UNSEEN,
    else the new one.
    """
    old = path.read_bytes() if path.is_file() else new
    if old == new:
        return new
    one, other = (
        np.array(Pixels.open(io.BytesIO(data)).convert("RGBA"), np.int16) for data in (old, new)
    )
    alike = one.shape == other.shape and np.abs(one - other).max() <= UNSEEN
    return old if alike else new
