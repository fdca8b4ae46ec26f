"""What a notebook shows and leaves: verdicts, checked sentences, figures and tables."""

import io
import json
from contextlib import suppress
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from IPython import get_ipython
from IPython.display import Markdown, display
from matplotlib.figure import Figure
from PIL import Image

from kbrepro import checks, figures, paths, scorecard, store
from kbrepro.claims import Claim, sentences_of
from kbrepro.claims.tables import Kept
from kbrepro.figures import comparisons
from kbrepro.papers import folder_of
from kbrepro.replay import Replays

#: A picture is kept while no pixel differs from the new one by more, of 255: another processor colours edges so.
UNSEEN = 10


class Record:
    """The record of one notebook's run: where its trials are kept, what it judges, and the folder that it writes to.

    `results_dir` is relative to the project's root; if empty, nothing is written. With the notebook's own parameters,
    the full scale, trials are read from `results/paper/<notebook>/played`, and one of each label is replayed; what is
    missing there is an error. With changed parameters what they change is played, and nothing is kept. The batch
    (`kbrepro reproduce`) names the store in which it keeps what it plays; what it reads there is replayed, too.
    """

    def __init__(self, notebook: str, results_dir: str = "") -> None:
        figures.use_style()
        root = paths.project_root()
        self.notebook, self.folder = notebook, root / results_dir if results_dir else None
        full_scale = root / "results" / paths.FULL_SCALE / notebook / store.PLAYED
        kept_in = store.current()
        run = (kept_in.folder if kept_in else full_scale).with_name("run.json")
        known = json.loads(run.read_text(encoding="utf-8")) if run.is_file() else {}
        self._replays = replays = Replays(root, notebook, known)
        if kept_in is None:
            self.short = _changed(known.get("parameters", {}))
            store.use(store.Store(full_scale, read_only=not self.short, keeps=False, on_read=replays))
        elif kept_in.read_only:  # an audit listens to what is asked for, and judges nothing
            self.short = True
        else:
            self.short, kept_in.on_read = kept_in.folder != full_scale, replays
        self._paper, self._kept, self._before = folder_of(notebook), Kept(full_scale), full_scale.parent

    def verdicts(self, *ids: str) -> None:
        """Show for claims and theorems what the paper says, in how many reruns it comes out, and the verdict.

        A short run judges nothing. ValueError on an unknown claim.
        """
        known = {each.id: each for each in sentences_of(self._paper)}
        checks.one_of(tuple(known), **{f"claim of {self.notebook}": each for each in ids})
        if not self.short:
            display(Markdown(scorecard.tables([scorecard.record_of(known[each], self._kept) for each in ids])))

    def readings(self, claim_id: str) -> None:
        """Show how often a claim comes out under every reading, as a picture; nothing in a short run."""
        if not self.short:
            (claim,) = [each for each in sentences_of(self._paper) if each.id == claim_id and isinstance(each, Claim)]
            result = scorecard.judged(claim, self._kept)
            self.figure(comparisons.readings(f"{claim_id}: {result.verdict}", result.readings), f"readings_{claim_id}")
            plt.show()

    def say(self, holds: Any, sentence: str) -> None:
        """Show a sentence about the results above; ValueError at full scale if it does not hold.

        In a short run it is left out where it does not hold.
        """
        if bool(holds):
            display(Markdown(sentence))
        elif not self.short:
            raise ValueError(f"{self.notebook}: this sentence is not true of the results: {sentence}")

    def finish(self) -> None:
        """Show what a short run could not judge, or what was not replayed; write all verdicts to claims.json.

        Numbers there have six digits (`scorecard.rounded`).
        """
        if self.short:
            full = f"[full-scale notebook](../notebooks/{self.notebook}.ipynb)"
            display(Markdown(f"Too short to judge; see the {full}."))
            return
        if long := self._replays.long:
            some = "; ".join(long[:5]) + (f"; and {len(long) - 5} more" if len(long) > 5 else "")
            said = f"One trial of each label was played again, but for {len(long)} whose trials are long: {some}."
            display(Markdown(said))
        if self.folder:
            found = json.loads(json.dumps(scorecard.of_paper(self._paper, self._kept), default=float))
            before = None
            with suppress(OSError, ValueError):  # none, or damaged: it is replaced
                before = json.loads((self._before / "claims.json").read_text(encoding="utf-8"))
            text = json.dumps(scorecard.rounded(found, before), indent=1, ensure_ascii=False)
            paths.write_text(self.folder / "claims.json", text + "\n")

    def figure(self, figure: Figure, name: str) -> None:
        """Write `figures/<name>.png`, 200 dots an inch; at full scale the committed one while it looks the same."""
        if self.folder:
            drawn = io.BytesIO()
            figure.savefig(drawn, dpi=200, facecolor="white")
            before = self._before / "figures" / f"{name}.png"
            old = before.read_bytes() if before.is_file() and not self.short else b""
            new = old if _looks_like(old, drawn.getvalue()) else drawn.getvalue()
            paths.write_bytes(self.folder / "figures" / f"{name}.png", new)

    def table(self, table: pd.DataFrame, name: str) -> None:
        """Write `tables/<name>.csv`."""
        if self.folder:
            paths.write_text(self.folder / "tables" / f"{name}.csv", table.to_csv(float_format="%.6g"))


def _looks_like(old: bytes, new: bytes) -> bool:
    """Whether no pixel of two pictures differs by more than UNSEEN; not if the old one cannot be read."""
    try:
        one, other = (np.array(Image.open(io.BytesIO(each)).convert("RGBA"), np.int16) for each in (old, new))
    except (OSError, SyntaxError):
        return False
    return one.shape == other.shape and bool(np.abs(one - other).max() <= UNSEEN)


def _changed(known: dict[str, Any]) -> bool:
    """Whether a parameter of the notebook that runs differs from those that the kept trials were played with."""
    shell = get_ipython()
    names = shell.user_ns if shell else {}
    return any(name in names and names[name] != value for name, value in known.items())
