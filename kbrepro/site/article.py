"""The article and the letters: templates whose placeholders, @{...}, are filled from the full-scale runs.

`make article` runs this module, which writes article/filled/: the article as a PDF, and each letter.
"""

import hashlib
import re
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from string import Template
from typing import Any

import pandas as pd
import yaml

from kbrepro import paths
from kbrepro.regret import Estimate
from kbrepro.site import pages, quoted
from kbrepro.verdicts import claims, scorecard

PAGE = "article"
#: Settings that the text may state, at the head of a template.
_SETTINGS = re.compile(r"<!-- settings: (.*?) -->\n*", re.DOTALL)
#: What else may have a digit: placeholders, formulas, links, years, claims, places in papers and in this text.
_PLACES = r"Sections?|Theorems?|Lemmas?|Propositions?|Tables?|Figures?|Figs?\.|[Ee]qs?\.|[Nn]otebooks?|footnote|chapter"
_ALLOWED = (
    r"@\{[^}]*\}",
    r"\$\$.*?\$\$",
    r"\$(?![^$]*(?:\d{3}|\d\.\d|%))[^$]*[A-Za-z\\][^$]*\$",  # 2 / T is a formula, 0.43 and 215 are results
    r"\]\([^)]*\)",
    r"\b(?:19|20)\d\d\b",
    r"\b\d-[A-Z]{1,2}\b",
    r"(?m:^(?:## )?\d\. )",
    rf"\b(?:{_PLACES}) \d+(?:\.\d+)*(?:(?:,| and| to) \d+(?:\.\d+)*)*",
)
_NUMBER = re.compile(r"\S*[\d%]\S*|\b(?:twice|half|halves|\w+fold|hundreds?|thousands?|[mb]illions?|per ?cent)\b")


class _Form(Template):
    delimiter, idpattern, braceidpattern = "@", r"(?!)", r"[^{}]+"


def filled(template: Path, results: "Results") -> str:
    """Return a template filled from results; ValueError on what is unknown or stale, and on numbers that were typed."""
    text = template.read_text(encoding="utf-8")
    if numbers := typed(text):
        raise ValueError(f"{template.name}: typed, not filled in: {', '.join(numbers)}")
    return _Form(_SETTINGS.sub("", text)).substitute(results)


def typed(text: str) -> list[str]:
    """Return the numbers of a template that are no placeholder, no stated setting, and not allowed by their kind."""
    stated, text = _SETTINGS.match(text), _SETTINGS.sub("", text).partition("\n## References\n")[0]
    names = [rf"(?<!\w){re.escape(setting)}(?!\w)" for setting in stated[1].split("; ")] if stated else []
    for allowed in (*_ALLOWED, *names):
        text = re.sub(allowed, " ", text, flags=re.DOTALL)
    return _NUMBER.findall(text)


class Results(dict[str, str]):
    """What the full-scale runs of a project say, by placeholder; `figures` are those that were asked for."""

    def __init__(self, root: Path) -> None:
        super().__init__()
        self.found, self.figures = quoted.read(root), list[str]()
        self.rules = {name: claims.load(root / "notebooks" / "claims" / f"{name}.yaml") for name in self.found.runs}

    def __missing__(self, name: str) -> str:
        """Return one of `kinds`; 1-E.mean, a number of a claim; or a block of other pages (see `quoted.quote`)."""
        kinds = {"finding": partial(self._sentence, "answers"), "reason": partial(self._sentence, "explains")}
        kinds |= {"summary": self._summary, "verdict": self._verdict, "claims": self._claims, "choices": self._choices}
        kinds |= {"figure": self._figure, "table": self._table, "value": self._value, "version": self._version}
        name = " ".join(name.split())  # a placeholder may go over the end of a line
        what, _, rest = name.partition(" ")
        try:
            if what in kinds:
                return kinds[what](rest)
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

    def _part(self, name: str) -> str:
        """1-E.mean; 1-E.mean:more and :higher, with the word for its sign; 1-E.mean:interval, with its interval."""
        claim, part, spec = re.fullmatch(r"([\w-]+)\.(\w+):?(\w*)", name).groups()
        notebook, run = self._run(claim.partition("-")[0])
        rule = self.rules[notebook].claims[claim].parts[part]
        (its,) = [r["parts"][part] for r in run["claims"] if r["id"] == claim]
        if spec == "interval":
            return rule.shown(Estimate(its["value"], its["low"], its["high"]))
        return format(claims.Value(rule, its["value"]), spec)

    def _sentence(self, key: str, ids: str) -> str:
        """The sentence that holds and answers, or explains, just these claims; or the only one that does and others."""
        _, run = self._run(ids.partition("-")[0])
        its = [e for e in run["expected"] if e["holds"] and set(ids.split()) <= set(e.get(key, ()))]
        its = [e for e in its if set(e[key]) == set(ids.split())] or its
        if len(its) != 1:
            raise ValueError(f"{len(its)} sentences that hold have {ids} among what each {key}: name those of one")
        return its[0]["why"] if key == "explains" else f"{its[0]['sentence']} ({', '.join(its[0][key])})"

    def _summary(self, number: str) -> str:
        return scorecard.summary(self._run(number)[1]["claims"]).partition(";")[0]

    def _verdict(self, claim: str) -> str:
        (verdict,) = [r["verdict"] for r in self._run(claim.partition("-")[0])[1]["claims"] if r["id"] == claim]
        return verdict

    def _claims(self, verdict: str) -> str:
        """Every claim that counts and has this verdict."""
        its = [r for name in self.found.papers for r in self._run(name[:2])[1]["claims"]]
        its = [r for r in its if r["counts_as"] in scorecard.COUNTED and r["verdict"] == verdict]
        return "\n".join(f"- {r['says']} ({r['id']})" for r in its)

    def _choices(self, first: str) -> str:
        return "\n".join(scorecard.ranked_choices(self.found.runs).splitlines()[: 2 + int(first)])

    def _version(self, _: str) -> str:
        return str(yaml.safe_load((self.found.root / "CITATION.cff").read_text(encoding="utf-8"))["version"])

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
        """FILE; COLUMNS; rows for which a WHERE is true; a cross table where columns are ROWS | COLUMN | VALUE."""
        which, columns, where = f"{settings}; ".split("; ")[:3]
        its, (keys, *across) = self._read(which), columns.split(" | ")
        its = its.query(where) if where else its
        rows = keys.split(", ")
        its = its.pivot_table(across[1], rows, across[0], sort=False).reset_index() if across else its[rows]
        lines = [[f"{x:.2f}" if isinstance(x, float) else x for x in line] for line in its.itertuples(index=False)]
        return scorecard.table([str(name).replace("_", " ") for name in its.columns], lines)

    def _value(self, settings: str) -> str:
        """FILE; an expression of its columns, as pandas has them."""
        which, expression = settings.split("; ")
        return format(self._read(which).eval(expression, engine="python"), ",.3g")


def page(root: Path, source: Path) -> str:
    """Return the article as a page of the site, and leave its figures in `source`."""
    results = Results(root)
    text = pages.inside(root, filled(root / "article" / "article.md", results))
    for figure in results.figures:
        paths.write_bytes(source / figure, (results.found.folder / figure).read_bytes())
    for name, run in results.found.runs.items():
        text = pages.linked(text, [r["id"] for r in run["claims"]], f"{name}.html")
    return text
