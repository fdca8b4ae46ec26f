"""What a placeholder of the article stands for, in the full-scale runs; ValueError where it is unknown or stale."""

import hashlib
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from kbrepro.regret import Estimate
from kbrepro.site import quoted
from kbrepro.verdicts import claims, scorecard


class Results(dict[str, str]):
    """What the full-scale runs of a project say, by placeholder; `figures` are those that were asked for."""

    def __init__(self, root: Path) -> None:
        super().__init__()
        self.found, self.figures = quoted.read(root), list[str]()
        self.rules = {name: claims.load(root / "notebooks" / "claims" / f"{name}.yaml") for name in self.found.runs}
        self.kinds: dict[str, Callable[[str], str]] = {
            "finding": partial(self._sentence, "answers"), "reason": partial(self._sentence, "explains"),
            "verdict": self._verdict, "given": self._given, "summary": self._summary, "claims": self._claims,
            "lead": self._lead, "counted": self._counted, "moved": self._moved, "edition": self._edition,
            "choices": self._choices, "figure": self._figure, "table": self._table, "value": self._value,
        }  # fmt: skip

    def __missing__(self, placeholder: str) -> str:
        """Return one of `kinds`; a number of a claim, such as 1-E.mean; or a block of other pages (`quoted.quote`)."""
        name = " ".join(placeholder.split())  # it may go over the end of a line
        what, _, rest = name.partition(" ")
        try:
            if what in self.kinds:
                return self.kinds[what](rest)
            return self._part(name) if "." in name else quoted.quote(name, self.found)
        except (LookupError, OSError, NameError, AttributeError) as error:
            raise ValueError(f"@{{{name}}} is not in the results ({error!r})") from None

    def _run(self, number: str, *files: str) -> tuple[str, Mapping[str, Any]]:
        """Return name and record of a notebook's run; ValueError if other rules judged it, or a file changed since."""
        (name,) = [its for its in self.found.runs if its.startswith(f"{number:0>2}_")] or [number]
        run = self.found.runs[name]
        stale = [] if run["rules"] == self.rules[name].digest else ["its rules"]
        for file in ("claims.json", "manifest.json", *files):
            digest = hashlib.sha256((self.found.folder / name / file).read_bytes()).hexdigest()
            stale += [file] * (run["facts"]["outputs"].get(file) != digest)
        if stale:
            raise ValueError(f"results of {name} are stale, since {', '.join(stale)} changed: run it again")
        return name, run

    def _claim(self, claim: str) -> tuple[str, Mapping[str, Any]]:
        notebook, run = self._run(claim.partition("-")[0])
        return notebook, {r["id"]: r for r in run["claims"]}[claim]

    # Claims, and sentences on them

    def _part(self, name: str) -> str:
        """1-E.mean; 1-E.mean:more and :higher, with the word for its sign; 1-E.mean:interval, with its interval."""
        claim, _, rest = name.partition(".")
        part, _, spec = rest.partition(":")
        notebook, record = self._claim(claim)
        rule, its = self.rules[notebook].claims[claim].parts[part], record["parts"][part]
        if spec == "interval":
            return rule.shown(Estimate(its["value"], its["low"], its["high"]))
        return format(claims.Value(rule, its["value"]), spec)

    def _verdict(self, claim: str) -> str:
        return str(self._claim(claim)[1]["verdict"])

    def _given(self, verdicts: str) -> str:
        """1-A depends, 1-D reproduced: the claims that a sentence rests on; ValueError if one has another verdict."""
        given = dict(its.split(" ", 1) for its in verdicts.split(", "))
        if other := [claim for claim, verdict in given.items() if self._verdict(claim) != verdict]:
            raise ValueError(f"{', '.join(other)}: the verdict is no longer that of the sentence")
        return f"({', '.join(given)})"

    def _sentence(self, key: str, ids: str) -> str:
        """The sentence that holds and answers, or explains, just these claims; or the only one that does and others."""
        _, run = self._run(ids.partition("-")[0])
        its = [e for e in run["expected"] if e["holds"] and set(ids.split()) <= set(e.get(key, ()))]
        its = [e for e in its if set(e[key]) == set(ids.split())] or its
        if len(its) != 1:
            raise ValueError(f"{len(its)} sentences that hold have {ids} among what each {key}: name those of one")
        return its[0]["why"] if key == "explains" else f"{its[0]['sentence']} ({', '.join(its[0][key])})"

    def _papers(self, number: str = "") -> list[tuple[str, Mapping[str, Any]]]:
        """Every claim of the papers that counts, after its notebook; of one notebook, by its number."""
        runs = [self._run(name[:2]) for name in scorecard.of_papers(self.found.runs) if name.startswith(number)]
        return [(name, r) for name, run in runs for r in run["claims"] if r["counts_as"] in scorecard.COUNTED]

    def _claims(self, verdict: str) -> str:
        """A table of the claims of the papers that count and have this verdict: what they say, and what we find."""
        its = [(quoted.label(name, self.found.papers), r) for name, r in self._papers() if r["verdict"] == verdict]
        lines = [[paper, f"{r['says']} ({r['id']})", r["finds"]] for paper, r in its]
        text = scorecard.table(["paper", "it says", "we find"], lines)
        return text.replace("| --- | --- | --- |", "|:---|:-------|:-------|", 1)  # widths of the columns in print

    def _counted(self, which: str) -> str:
        """How many claims of the papers count and are all that `which` says; a number in it names a notebook.

        revised: its rule changed, ever; seen: it changed after results of this edition were seen; added: the claim is
        newer than the edition; stands: as its verdict says.
        """
        edition, kinds = self._edition(""), which.split()
        number = kinds.pop() if kinds and kinds[-1].isdigit() else ""
        frozen = {claim for rules in self.rules.values() if rules.edition for claim in rules.edition.claims}
        fits: dict[str, Callable[[Mapping[str, Any]], bool]] = {
            "revised": lambda r: bool(r["changes"]),
            "seen": lambda r: any(change.get("seen") == edition for change in r["changes"]),
            "added": lambda r: r["id"] not in frozen,
            "stands": lambda r: r["verdict"] in scorecard.STANDS,
        }
        return str(sum(all(fits[kind](r) for kind in kinds) for _, r in self._papers(number)))

    def _moved(self, _: str) -> str:
        return scorecard.moved(self.found.runs, self._edition(""))

    def _lead(self, _: str) -> str:
        """The totals in two sentences."""
        return scorecard.headline(self.found.runs)

    def _edition(self, _: str) -> str:
        """The edition that all runs are of."""
        (name,) = {rules.edition.name for rules in self.rules.values() if rules.edition}
        return name

    def _summary(self, number: str) -> str:
        return scorecard.counted(self._run(number)[1]["claims"])

    def _choices(self, first: str) -> str:
        return "\n".join(scorecard.ranked_choices(self.found.runs).splitlines()[: 2 + int(first)])

    # Figures and tables, 03/table1 is that of notebook 03

    def _figure(self, which: str) -> str:
        number, _, stem = which.partition("/")
        name, run = self._run(number, f"figures/{stem}.svg")
        self.figures.append(f"{name}/figures/{stem}.svg")
        return f"![{run['figures'][stem]['title']}]({self.figures[-1]})"

    def _read(self, which: str) -> pd.DataFrame:
        number, _, stem = which.partition("/")
        name, _ = self._run(number, file := f"tables/{stem}.csv")
        return pd.read_csv(self.found.folder / name / file)

    def _table(self, settings: str) -> str:
        """TABLE; COLUMNS, or ROWS | COLUMN | VALUE of a cross table; the condition on its rows; OLD = NEW, a name.

        The last two may be left out.
        """
        which, columns, where, renamed = f"{settings}; ; ".split("; ")[:4]
        its, (listed, *across) = self._read(which), columns.split(" | ")
        its, rows = its.query(where) if where else its, listed.split(", ")
        its = its.pivot_table(across[1], rows, across[0], sort=False).reset_index() if across else its[rows]
        head = [name if isinstance(name, str) else f"{across[0]} = {name}" for name in its.columns]  # d = 1, but EI
        its = its.replace(*renamed.split(" = ")) if renamed else its
        lines = [
            [f"{x:,.{2 * (x < 100)}f}" if isinstance(x, float) else x for x in row] for row in its.to_numpy(object)
        ]
        return scorecard.table([name.replace("_", " ") for name in head], lines)

    def _value(self, settings: str) -> str:
        """TABLE; an expression of its columns, as pandas has them; a format, if it is no whole number."""
        which, expression, spec = f"{settings}; ,".split("; ")[:3]
        return format(self._read(which).eval(expression, engine="python"), spec)
