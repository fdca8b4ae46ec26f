"""What a notebook leaves: figures, tables and verdicts; without a folder nothing is written."""

import io
import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import pandas as pd
from IPython import get_ipython
from IPython.core.pylabtools import print_figure
from IPython.display import Markdown, display
from matplotlib.figure import Figure
from PIL import Image

from kbrepro import checks, figures, paths
from kbrepro.regret import N_TABULATED, Estimate, Regrets, Trace, final_average_regret, log_spaced
from kbrepro.verdicts import claims, interpretations, scorecard
from kbrepro.verdicts.scorecard import FULL_SCALE

#: A number in a sentence; not the 5 of GP-UCB/5, nor 2-A, nor the 2 of d = 2.
NUMBER = re.compile(r"(?<![\w./-])(?<!d = )\d+(?:[.,]\d+)*(?![\w-])")
#: What stands instead of the sentences that a short run cannot support.
TOO_SHORT = "Too short to judge: {} finding{}; see the [full-scale notebook]({})."


class Record:
    """The record of one notebook's run.

    `notebook` names the rules, `results_dir` (relative to the project's root) the folder to write to, if any, and `has`
    what the run offers to claims with needs, such as {"data": ["temperature"], "horizon": 1000}. Sets the house style.
    Raises `claims.BadRules` if the rules cannot be read.
    """

    def __init__(self, notebook: str, results_dir: str = "", *, has: Mapping[str, Any] | None = None) -> None:
        figures.use_style()
        root = paths.project_root()
        self.notebook, self.has = notebook, dict(has or {})
        self.rules = claims.load(root / "notebooks" / "claims" / f"{notebook}.yaml")
        self.folder = root / results_dir if results_dir else None
        self.profile = _profile(notebook, results_dir)
        self._full_scale = root / "results" / FULL_SCALE / notebook
        self._printed = root / "data" / "printed"
        self._link = f"../results/{FULL_SCALE}/{notebook}/notebook.ipynb"
        self._records: dict[str, dict[str, Any]] = {}
        self._expected: list[dict[str, Any]] = []
        self._shown: list[list[str]] = []
        self._short = 0
        self._manifest: dict[str, dict[str, Any]] = {"figures": {}, "tables": {}}
        self._pictures: WeakKeyDictionary[Figure, tuple[bytes, dict[str, str]]] = WeakKeyDictionary()
        if shell := get_ipython():
            shell.display_formatter.formatters["text/html"].for_type(pd.DataFrame, _one_head)
            shell.events.register("post_run_cell", self._say_short)

    def banner(self) -> None:
        """Show which run this is, on which data, and where the numbers to quote are."""
        run = {
            "": "the notebook as it was opened: short runs, and nothing is written",
            "quick": "the quick run: fewer and shorter trials",
            FULL_SCALE: "the full-scale run, whose numbers are the ones to quote",
        }.get(self.profile, "a run with settings of your own")
        real = ", ".join(self.has.get("data", []))
        data = f"real sensor data ({real})" if real else "a SIMULATED SUBSTITUTE for sensor data: none was found"
        text = f"**This is {run}.**" + f" It has {data}." * ("data" in self.has)
        if self.profile != FULL_SCALE:
            text += f" Quote the numbers of the [full-scale run]({self._link})."
        display(Markdown(text))

    def at_a_glance(self) -> None:
        """Show what came out at full scale: as committed, or in this run if it is one (the batch sees to that)."""
        text = scorecard.glance(scorecard.read_run(self._full_scale), self.notebook)
        display(Markdown(text if self.profile == FULL_SCALE else f"**At full scale:**\n\n{text}"))

    # What is written

    def figure(self, figure: Figure, name: str, tables: Sequence[str] = ()) -> None:
        """Write `figures/<name>.png` (200 dpi), `.svg`, and `.csv` with named curves; the notebook shows it at 100 dpi.

        The layout is fixed now: later additions to the figure do not change it. `tables` have its numbers, by default
        the table of the same name, if there is one. If `data/printed/<name>.csv` has curves read off the paper's own
        plot, they are drawn next to ours.
        """
        curves, title = figures.curves(figure), figures.said(figure)
        if (path := self._printed / f"{name}.csv").is_file():
            figures.printed(figure, pd.read_csv(path, dtype={"panel": str}))
        self._manifest["figures"][name] = {"title": title, "curves": len(curves) > 0, "tables": [*tables] or [name]}
        self._write()
        picture, dpi = io.BytesIO(), 200 if self.folder else 100
        with figures.placed(figure, dpi):
            figure.savefig(picture, format="png", dpi=dpi, facecolor="white")
            if self.folder:
                stem = self.folder / "figures" / name
                paths.write_bytes(Path(f"{stem}.png"), picture.getvalue())
                figure.savefig(f"{stem}.svg", facecolor="white", metadata={"Date": None, "Title": title})
                if len(curves):
                    paths.write_text(Path(f"{stem}.csv"), curves.to_csv(index=False, float_format="%.6g"))
        if shell := get_ipython():
            # half as wide and high as what is written: quicker than to draw the figure again
            shown = _halved(picture)._repr_png_() if self.folder else picture.getvalue()
            self._pictures[figure] = shown, {"figure": name}
            shell.display_formatter.formatters["image/png"].for_type(Figure, self._png)

    def kept_figure(self, name: str) -> None:
        """Show a figure as the full-scale run left it, since its data is missing here; and write it again."""
        if name in (kept := scorecard.read_run(self._full_scale)["figures"]):
            self._manifest["figures"][name] = kept[name]
            self._write()
        for kind in ("png", "svg", "csv"):
            path = self._full_scale / "figures" / f"{name}.{kind}"
            if self.folder and path.is_file():
                paths.write_bytes(self.folder / "figures" / path.name, path.read_bytes())
        if (path := self._full_scale / "figures" / f"{name}.png").is_file():
            display(_halved(path), metadata={"image/png": {"figure": name}})

    def _png(self, figure: Figure) -> tuple[bytes, dict[str, str]] | bytes:
        """The picture of a figure as a notebook shows it, and its name for the metadata of the output."""
        return self._pictures.get(figure) or print_figure(figure)

    def table(self, table: pd.DataFrame, name: str, kind: str = "numbers", *, page: bool = False) -> None:
        """Write `tables/<name>.csv`; its `kind` is "seconds" if it has measured times, or what follows from them.

        With `page` the site gives it a page of its own, on which readers filter it by its words.
        """
        self._manifest["tables"][name] = {"kind": kind} | ({"page": True} if page else {})
        self._write()
        if self.folder:
            paths.write_text(self.folder / "tables" / f"{name}.csv", table.to_csv(float_format="%.6g"))

    def traces(self, traces: Mapping[str, Trace | Regrets], name: str) -> None:
        """Write R_T / T of every trial, and mean and quartiles of the curves."""
        finals = pd.DataFrame(final_average_regret(traces))
        self.table(finals.rename_axis("trial"), f"{name}_average_regret_per_trial")
        self.table(curve_quantiles(traces), f"{name}_average_regret_curves")

    # Verdicts

    def judge(self, claim_id: str, note: str = "", refuted: Collection[str] = (), **estimates: Estimate) -> None:
        """Judge a claim by an estimate of each of its parts; not evaluated if the run lacks what the claim needs.

        `refuted` names interpretations that printed numbers of the paper rule out: they count only if all are.
        Raises ValueError on an unknown claim, a part without estimate, or an estimate without part.
        """
        claim = self._claim(claim_id)
        missing = claim.missing(self.has)
        record = claims.not_evaluated(claim, missing) if missing else claims.judged(claim, estimates, note, refuted)
        frozen = self.rules.edition.claims.get(claim_id) if self.rules.edition else None
        if not missing and (before := claims.revised(claim, frozen, estimates)):
            record["revised"] = before
        self._records[claim_id] = record
        self._write()

    def verdict(self, claim_id: str) -> str:
        """Return the verdict on a claim so far; ValueError if it was not judged."""
        return str(self._judged(claim_id)["verdict"])

    def value(self, claim_id: str, part: str) -> float:
        """Return the number of a part of a claim; NaN if the run could not judge it, ValueError on an unknown part."""
        parts = self._judged(claim_id)["parts"]
        checks.one_of(tuple(parts), **{f"part of {claim_id}": part})
        return float(parts[part].get("value", np.nan))

    def play(self, claim_id: str, found: Iterable[tuple[Mapping[str, Any], Estimate]]) -> pd.DataFrame:
        """Keep the `played` part of a claim in every interpretation, the main one first; return its table.

        If some interpretations hold and others fail, the claim depends on what is left open (`claims.crossed`).
        """
        part, found = self._claim(claim_id).played, list(found)
        choices = list(found[0][0])
        for choice in choices:
            checks.one_of(tuple(self.rules.interpretations), **{f"choice of {claim_id}": choice})
        table = interpretations.specification(part, found)
        if claim_id in self._records:
            counts, record = interpretations.counts(table, choices), self._records[claim_id]
            record |= claims.crossed(self._claim(claim_id), record["verdict"], counts)
            record["interpretations"] = {"part": part.name} | counts
            self._write()
            for ids in self._shown:  # the verdict may be another now
                if claim_id in ids:
                    self._display(ids, update=True)
        self.table(table, f"interpretations_{claim_id}")
        return table

    def expect(self, condition: Any, sentence: str, **explained: Any) -> None:
        """Show a sentence about a result if its condition holds; else count it as too short to judge."""
        if self._kept(condition, sentence, **explained):
            display(Markdown(sentence), metadata=explained)

    def _kept(self, condition: Any, sentence: str, **explained: Any) -> bool:
        """Keep a sentence and whether it holds."""
        holds = bool(condition) and not re.search(r"\bnan\b", sentence)
        self._expected.append({"sentence": sentence, "holds": holds} | explained)
        self._write()
        self._short += not holds
        return holds

    def _say_short(self, _: Any = None) -> None:
        """Say at the end of a cell how many of its sentences this run cannot support."""
        if n := self._short:
            display(Markdown(TOO_SHORT.format(n, "s" * (n > 1), self._link)))
        self._short = 0

    def explain(self, claim_ids: Sequence[str], condition: Any, lead: str, why: str, more: str = "") -> None:
        """Show what came of some claims and, folded, why; checked like `expect`. Pages give `why` as each one's reason.

        Without `lead` it continues the explanation before.
        """
        ids = [self._claim(claim_id).id for claim_id in claim_ids]
        reason = " ".join(filter(None, [why, more]))
        head = lead or f"More of {', '.join(ids)}"
        if self._kept(condition, f"**{lead}.** {reason}" if lead else reason, explains=ids, why=why):
            display(Markdown(f"<details><summary><b>{head}.</b></summary>\n\n{reason}\n\n</details>"))

    def finding(self, claim_ids: Sequence[str], condition: Any, sentence: str) -> None:
        """Show one of the notebook's answers, which pages quote with links to its claims; checked like `expect`.

        Raises ValueError if it has more than two numbers.
        """
        if len(found := NUMBER.findall(sentence)) > 2:
            raise ValueError(f"sentence has the numbers {', '.join(found)}: an answer must have at most two")
        self.expect(condition, sentence, answers=[self._claim(claim_id).id for claim_id in claim_ids])

    def show(self, *claim_ids: str) -> None:
        """Show what the paper says, what this run finds, rule and verdict, and next to it the full-scale verdict.

        The metadata of the output names the claims. `play` makes the table anew.
        """
        ids = list(claim_ids)
        self._display(ids)
        self._shown.append(ids)

    def _display(self, ids: list[str], **settings: bool) -> None:
        """Show a table of claims, or with `update` make the one that is shown anew."""
        its = scorecard.rows(map(self._judged, ids), full=self._committed())
        table = Markdown(scorecard.verdict_table(its, beside=self.profile != FULL_SCALE))
        display(table, metadata={"claims": ids}, display_id="claims " + " ".join(ids), **settings)

    def finish(self) -> None:
        """Check that every claim of the rules has a verdict; ValueError names the first without one."""
        for claim_id in self.rules.claims:
            self._judged(claim_id)

    def _judged(self, claim_id: str) -> dict[str, Any]:
        if self._claim(claim_id).id not in self._records:
            raise ValueError(f"{self.notebook}: claim {claim_id} was not judged")
        return self._records[claim_id]

    def _claim(self, claim_id: str) -> claims.Claim:
        checks.one_of(tuple(self.rules.claims), **{f"claim of {self.notebook}": claim_id})
        return self.rules.claims[claim_id]

    def _committed(self) -> list[dict[str, Any]]:
        """Rows of the full-scale run; none for that itself, which replaces them."""
        return [] if self.profile == FULL_SCALE else scorecard.read_run(self._full_scale)["claims"]

    def _write(self) -> None:
        """Write verdicts and sentences, and what there is of figures and tables."""
        ordered = [self._records[i] for i in self.rules.claims if i in self._records]
        found = {"rules": self.rules.digest, "expected": self._expected, "claims": ordered}
        for name, content in (("claims", found), ("manifest", self._manifest)):
            if self.folder:
                paths.write_text(self.folder / f"{name}.json", json.dumps(content, indent=1, ensure_ascii=False) + "\n")


def _one_head(table: pd.DataFrame) -> str:
    """A table as HTML with the names of its index in the one row of heads."""
    named = any(table.index.names) and table.columns.nlevels == 1
    return (table.reset_index() if named else table).to_html(index=not named, border=0, na_rep="–")


def _profile(notebook: str, results_dir: str) -> str:
    """The profile whose folder, results/<profile>/<notebook> or .partial of it, this is; "own" of another folder."""
    parts = Path(results_dir).parts
    batch = len(parts) == 3 and parts[0] == "results" and parts[2].split(".")[0] == notebook
    return parts[1] if batch else "own" * bool(results_dir)


def _halved(picture: io.BytesIO | Path) -> Any:
    """The image of a PNG at half its width and height."""
    return Image.open(picture).convert("RGB").reduce(2)


def curve_quantiles(traces: Mapping[str, Trace | Regrets]) -> pd.DataFrame:
    """Return mean and quartiles over trials of R_t / t at about 60 rounds, indexed by policy and round."""
    parts = {}
    for policy, trace in traces.items():
        curves = trace.average_regret
        rounds = log_spaced(curves.shape[1], N_TABULATED)
        quartiles = np.quantile(kept := curves[:, rounds - 1], [0.25, 0.5, 0.75], axis=0)
        columns = dict(zip(["mean", "q25", "median", "q75"], [kept.mean(axis=0), *quartiles], strict=True))
        parts[policy] = pd.DataFrame(columns, index=pd.Index(rounds, name="round"))
    return pd.concat(parts, names=["policy"])
