"""Published claims, the rules that decide them, and verdicts computed from them.

The rules are data, committed before the run that they judge: `notebooks/claims/<notebook>.yaml` holds the choices
that the paper leaves open (`interpretations`) and `claims`. A claim has parts; each says what it *is*, and the *rule*
that its number must meet, such as "< 0.6" or ">= -0.2, <= 0.2". A part *holds* if its whole 95 % interval meets the
rule, *fails* if none of it does, and is *undecided* otherwise; a number without sampling error is its own interval.
"""

import hashlib
import json
import math
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, ClassVar

import yaml

from kbrepro import checks
from kbrepro.regret import Estimate, exact

KINDS = ("theorem", "experiment", "own question")
#: From the best to the worst; of a theorem a run can find no violation, or one.
VERDICTS = ("reproduced", "no violation found", "partly", "depends", "undecided", "not reproduced", "not evaluated")
#: A claim depends on a choice if at least this share of the interpretations that are decided goes the other way.
OTHER_WAY = 0.1
#: What a change says of the new rule on the old numbers, where these were not kept in enough detail.
NOT_COMPUTED = "cannot be computed from what was kept"
#: What may stand in a change.
CHANGES = {"then": (*VERDICTS, "substitute data"), "direction": ("harder", "easier", "leaves")}
CHANGES |= {"on_old_numbers": (*VERDICTS, NOT_COMPUTED)}

#: How many characters the place of a claim, and the sentence quoted from there, may have.
LONGEST = 300

_BOUND = re.compile(r"(<=|>=|<|>)\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)$")


class BadRules(ValueError):
    """A rules file is invalid; the message names file and claim."""


# Rules


@dataclass(frozen=True)
class Rule:
    """The numbers from `low` to `high`, with or without the end points."""

    text: str
    low: float = -math.inf
    high: float = math.inf
    low_included: bool = False
    high_included: bool = False

    def allows(self, value: float) -> bool:
        """Return whether a number meets the rule."""
        above = value >= self.low if self.low_included else value > self.low
        return above and (value <= self.high if self.high_included else value < self.high)

    def state(self, estimate: Estimate) -> str:
        """Return `holds`, `fails` or `undecided`; ValueError on a NaN."""
        if any(math.isnan(x) for x in estimate):
            raise ValueError(f"estimate = {tuple(estimate)} is not allowed: it must hold no NaN")
        if self.allows(estimate.low) and self.allows(estimate.high):
            return "holds"
        below = estimate.high < self.low or (estimate.high == self.low and not self.low_included)
        above = estimate.low > self.high or (estimate.low == self.high and not self.high_included)
        return "fails" if below or above else "undecided"

    def distance(self, value: float, scale: float) -> float:
        """Return how far a number lies inside the rule (outside if negative), in units of `scale`."""
        return min(value - self.low, self.high - value) / scale

    @property
    def nearest_scale(self) -> float:
        """The size of the smallest limit, which may be 0: the default unit of distances."""
        return min(abs(limit) for limit in (self.low, self.high) if math.isfinite(limit))


def read_rule(text: str) -> Rule:
    """Return a rule from one or two bounds joined by a comma; ValueError if it cannot be read or nothing meets it."""
    ends: dict[str, Any] = {}
    for bound in str(text).split(","):
        match = _BOUND.match(bound.strip())
        if not match:
            raise ValueError(f'rule {text!r} is not allowed: it must be bounds such as "> 0" or ">= -0.2, <= 0.2"')
        side = "low" if match[1][0] == ">" else "high"
        if side in ends:
            raise ValueError(f"rule {text!r} is not allowed: it bounds the same side twice")
        ends |= {side: float(match[2]), f"{side}_included": match[1][-1] == "="}
    if ends.get("low", -math.inf) >= ends.get("high", math.inf):
        raise ValueError(f"rule {text!r} is not allowed: no number meets it")
    return Rule(str(text), **ends)


# Claims


@dataclass(frozen=True)
class Part:
    """One number of a claim: what it is, its rule, how it is shown, and how it counts.

    `control`: must hold for the claim to be judged at all, and never lifts a verdict. `own`: our own question, judged
    and shown, never counted. `interpretation`: the one under which the part is judged; such parts are alternatives.
    `scale`: the unit of distances in figures, needed if a limit is 0. `show`: a format and a unit, as ".2f °C".
    `curve`: for the part that is played in every interpretation, the label of its axis and, unless the notebook gives
    it, the subject.
    """

    name: str
    what: str
    rule: Rule
    show: str = ".2g"
    control: bool = False
    own: bool = False
    interpretation: str = ""
    scale: float = 0.0
    curve: tuple[str, ...] = ()

    def set_of(self, *names: str) -> dict[str, Any]:
        """Return the named fields that are set."""
        return {name: getattr(self, name) for name in names if getattr(self, name)}

    @property
    def deciding(self) -> dict[str, Any]:
        """The rule and how the part counts."""
        return {"rule": self.rule.text} | self.set_of("control", "own", "interpretation", "scale")

    def shown(self, estimate: Estimate) -> str:
        """Return value and interval in the part's own format."""
        spec, _, unit = self.show.partition(" ")
        value, low, high = (format(x, spec) for x in estimate)
        text = value if estimate.low == estimate.high else f"{value} [{low}, {high}]"
        return f"{text} {unit}" if unit else text


@dataclass(frozen=True)
class Claim:
    """One published claim with the parts that decide it.

    `quote`: the words of the paper, at the place `where`, that the rules are about, with [...] for what is left out.
    `untestable`: the sentence that replaces `finds` if a control fails.
    """

    id: str
    where: str
    kind: str
    says: str
    parts: dict[str, Part]
    finds: str
    needs: dict[str, Any] = field(default_factory=dict)
    substitute_data: str = ""
    sanity_check: str = ""
    quote: str = ""
    untestable: str = ""
    changes: list[dict[str, str]] = field(default_factory=list)

    @property
    def deciding(self) -> dict[str, Any]:
        """What decides the verdict besides the numbers: rules, flags and scales of the parts, and the needs."""
        return {"needs": self.needs, "parts": {name: part.deciding for name, part in self.parts.items()}}

    @property
    def played(self) -> Part:
        """The part that is played under every interpretation; ValueError if there is none."""
        if not (found := [part for part in self.parts.values() if part.curve]):
            raise ValueError(f"claim {self.id}: no part has a `curve`, so none is played under every interpretation")
        return found[0]

    @property
    def counts_as(self) -> str:
        """Where the verdict is counted: theorem, experiment, own question, sanity check or substitute data."""
        return "substitute data" if self.substitute_data else "sanity check" if self.sanity_check else self.kind

    def verdict(self, states: Mapping[str, str], refuted: Collection[str] = ()) -> tuple[str, str]:
        """Return the verdict from the states of all parts, and the verdict under each interpretation if they disagree.

        Interpretations that printed numbers of the paper have `refuted` count only if all are refuted.
        """
        counted = {name: states[name] for name, part in self.parts.items() if not part.own}
        controls = {counted.pop(name) for name, part in self.parts.items() if part.control and name in counted}
        if "fails" in controls:
            return "not evaluated", ""
        under: dict[str, list[str]] = {}
        for name, state in counted.items():
            under.setdefault(self.parts[name].interpretation, []).append(state)
        common = under.pop("", [])
        verdicts = {its: self._called(joined(common + states)) for its, states in (under or {"": []}).items()}
        verdicts = {its: found for its, found in verdicts.items() if its not in refuted} or verdicts
        verdict = over_interpretations(verdicts.values())
        if "undecided" in controls and verdict not in ("undecided", "not reproduced"):
            return "undecided", ""
        names = {found: [name for name in verdicts if verdicts[name] == found] for found in verdicts.values()}
        told = [f"{found} with {' / '.join(its)}" for found, its in names.items()]
        return verdict, "; ".join(told) if len(told) > 1 else ""

    def _called(self, verdict: str) -> str:
        """The name of a verdict: no run shows that a theorem is true."""
        return "no violation found" if verdict == "reproduced" and self.kind == "theorem" else verdict

    def missing(self, has: Mapping[str, Any]) -> str:
        """Return why a run that `has` these things cannot judge the claim; empty if it can."""
        for name, wanted in self.needs.items():
            there = has.get(name)
            if type(wanted) is int:
                if there is None or there < wanted:
                    return f"needs {name}: at least {wanted}, has {there}"
            elif wanted != there and wanted not in (there or ()):
                return f"needs {name}: {wanted}"
        return ""


def joined(states: Collection[str]) -> str:
    """Return the verdict of parts that must all hold: some hold and some fail is "partly"."""
    if "fails" in states:
        return "partly" if "holds" in states else "not reproduced"
    return "undecided" if "undecided" in states else "reproduced"


def over_interpretations(verdicts: Iterable[str]) -> str:
    """Return a claim's verdict from those of its interpretations: "depends" if all are decided but disagree."""
    its = set(verdicts)
    return its.pop() if len(its) == 1 else "undecided" if "undecided" in its else "depends"


# Files of rules


@dataclass(frozen=True)
class Edition:
    """What was frozen before a notebook's full-scale run was first seen: each claim's `deciding`, and the root seed."""

    name: str
    seed: int
    claims: dict[str, Any]


@dataclass(frozen=True)
class Rules:
    """All claims of one notebook, the interpretations that it plays, and the edition of its full-scale run.

    `retired`: claims of earlier editions that are no longer judged, each with the reason.
    """

    notebook: str
    claims: dict[str, Claim]
    interpretations: dict[str, list[Any]]
    retired: dict[str, str] = field(default_factory=dict)
    edition: Edition | None = None

    @property
    def deciding(self) -> dict[str, Any]:
        """What decides verdicts: parts, rules, scale, needs, interpretations; no sentence, order or history."""
        claims = {name: claim.deciding for name, claim in self.claims.items()}
        return {"claims": claims, "interpretations": self.interpretations}

    @property
    def digest(self) -> str:
        """SHA-256 of what decides."""
        return digest(self.deciding)


def load(path: Path) -> Rules:
    """Return the rules of one file; BadRules names the file and the claim that cannot be read."""
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    if (
        not isinstance(content, dict)
        or set(content) - {"interpretations", "retired", "claims"}
        or "claims" not in content
    ):
        raise BadRules(f"{path.name} is not allowed: it must hold `claims`, a list, `interpretations`, `retired`")
    claims: dict[str, Claim] = {}
    for entry in content["claims"]:
        name = entry.get("id", "?") if isinstance(entry, dict) else "?"
        try:
            claim = _read_claim(entry)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise BadRules(f"{path.name}, claim {name}: {error}") from None
        if claim.id in claims:
            raise BadRules(f"{path.name}: claim {claim.id} is there twice")
        claims[claim.id] = claim
    frozen = edition_path(path)
    edition = Edition(**json.loads(frozen.read_text(encoding="utf-8"))) if frozen.is_file() else None
    interpretations = content.get("interpretations") or {}
    for name, values in interpretations.items():
        if not isinstance(values, list) or len(values) < 2 or len(set(map(str, values))) < len(values):
            raise BadRules(f"{path.name}, choice {name}: {values!r} must be a list of at least two different values")
    return Rules(path.stem, claims, interpretations, content.get("retired") or {}, edition)


def edition_path(rules: Path) -> Path:
    """Return the file with the edition of a file of rules."""
    return rules.parent / "editions" / f"{rules.stem}.json"


def digest(content: Any) -> str:
    """Return the SHA-256 of parsed content, which does not depend on layout and comments."""
    text = json.dumps(content, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def _read_claim(entry: dict[str, Any]) -> Claim:
    for key in entry:
        checks.one_of(tuple(f.name for f in fields(Claim)), key=key)
    checks.one_of(KINDS, kind=entry.get("kind", ""))
    for key in ("where", "quote"):
        _check_words(key, entry.get(key, ""), needed=entry["kind"] != "own question")
    parts = {name: _read_part(name, part) for name, part in entry["parts"].items()}
    if all(part.control or part.own for part in parts.values()) and entry["kind"] != "own question":
        raise ValueError("parts are all controls or own questions: at least one must count")
    for key in {"finds", "untestable"} & set(entry):
        if not (named := re.findall(r"{(\w+)(?::\w+)?}", entry[key])):
            raise ValueError(f"{key} names no part: it must show at least one number")
        for name in named:
            checks.one_of(tuple(parts), **{f"part in {key}": name})
    for change in entry.get("changes", []):
        if set(change) != {"was", "then", "why", "seen", *CHANGES}:
            raise ValueError(f"changes = {change!r} is not allowed: was, then, why, seen, direction, on_old_numbers")
        for key, allowed in CHANGES.items():
            checks.one_of(allowed, **{key: change[key]})
    return Claim(**{**entry, "parts": parts})


def _check_words(key: str, text: Any, needed: bool) -> None:
    if not isinstance(text, str) or len(text) > LONGEST:
        raise ValueError(f"{key} = {text!r} is not allowed: {key} must be text of at most {LONGEST} characters")
    if needed and not text.strip():
        raise ValueError(f"{key} = {text!r} is not allowed: a claim of a paper must have words for it")


def _read_part(name: str, entry: dict[str, Any]) -> Part:
    flags = {key: value for key, value in entry.items() if key not in ("is", "rule")}
    part = Part(name, entry["is"], read_rule(entry["rule"]), **flags)
    if not part.scale and part.rule.nearest_scale == 0:
        raise ValueError(f"part {name}: a limit is 0, so `scale` must say what distances are measured by")
    part.shown(Estimate(0.5, 0.5, 0.5))  # a format that cannot be read is found here
    return part


class Value:
    """The number of a part in a sentence: {x} as it is; {x:more}, {x:higher} in the word for its sign."""

    WORDS: ClassVar = {"more": ("more", "less"), "higher": ("higher", "lower")}

    def __init__(self, part: Part, value: float) -> None:
        self.part, self.value = part, value

    def __format__(self, spec: str) -> str:
        if not spec:
            return self.part.shown(exact(self.value))
        checks.one_of(tuple(self.WORDS), **{f"word for the sign of {self.part.name}": spec})
        size, _, unit = self.part.shown(exact(abs(self.value))).partition(" ")
        return f"{size}{' ' * bool(unit)}{unit} {self.WORDS[spec][self.value < 0]}"


# What a run found: plain records, as `claims.json` holds them


def judged(
    claim: Claim, estimates: Mapping[str, Estimate], note: str = "", refuted: Collection[str] = ()
) -> dict[str, Any]:
    """Return the record of a claim with the verdict of its parts; ValueError unless each has an estimate.

    `refuted`: names of interpretations, as in `Claim.verdict`; ValueError if the claim has no such interpretation.
    """
    for name in refuted:
        checks.one_of(tuple({part.interpretation for part in claim.parts.values()} - {""}), refuted=name)
    if set(estimates) != set(claim.parts):
        raise ValueError(f"claim {claim.id}: parts = {[*estimates]} is not allowed: parts must be {[*claim.parts]}")
    states = {name: part.rule.state(estimates[name]) for name, part in claim.parts.items()}
    verdict, deciding = claim.verdict(states, refuted)
    shown = {name: part.shown(estimates[name]) for name, part in claim.parts.items()}
    values = {name: Value(part, estimates[name].value) for name, part in claim.parts.items()}
    if verdict == "not evaluated":
        failed = next(n for n, p in claim.parts.items() if p.control and states[n] == "fails")
        note = claim.untestable.format(**values) or f"control failed: {claim.parts[failed].what}: {shown[failed]}"
    record = not_evaluated(claim, note)
    record |= {"verdict": verdict, "deciding": deciding, "finds": claim.finds.format(**values)}
    for name, estimate in estimates.items():
        record["parts"][name] |= estimate._asdict() | {"shown": shown[name], "state": states[name]}
    halves = of_halves(claim, estimates, refuted)
    return record | ({"halves": halves} if halves else {})


def crossed(claim: Claim, verdict: str, counts: Mapping[str, Any]) -> dict[str, Any]:
    """Return what changes in a record if some interpretations of the played part hold and others fail.

    `counts` comes from `interpretations.counts`. A decided claim then depends on the choice that matters most, if at
    least a share OTHER_WAY of the decided interpretations goes either way; fewer may be chance. A part that is our own
    question changes nothing.
    """
    ways = counts["holds"], counts["fails"]
    if claim.played.own or verdict in ("undecided", "depends", "not evaluated") or not min(ways):
        return {}
    if min(ways) < OTHER_WAY * sum(ways):
        return {}
    told = f"{verdict} in the main interpretation; holds in {ways[0]} and fails in {ways[1]} of {counts['of']}"
    return {"verdict": "depends", "depends_on": counts["matters_most"], "deciding": told}


def of_halves(claim: Claim, estimates: Mapping[str, Estimate], refuted: Collection[str] = ()) -> list[str]:
    """Return the verdict on each half of the trials; empty if a part that counts has no halves.

    Halves are not independent of rules that were chosen on the whole.
    """
    found = {name: estimates[name].halves for name, part in claim.parts.items() if not part.own}
    both = {name: pair for name, pair in found.items() if pair}
    if len(both) < len(found) or any(math.isnan(x) for pair in both.values() for e in pair for x in e):
        return []
    states = [{name: claim.parts[name].rule.state(pair[i]) for name, pair in both.items()} for i in (0, 1)]
    return [claim.verdict(dict.fromkeys(claim.parts, "holds") | its, refuted)[0] for its in states]


def revised(claim: Claim, frozen: Mapping[str, Any] | None, estimates: Mapping[str, Estimate]) -> dict[str, str]:
    """Return the rules that an edition froze and the verdict by them, if they have changed since; else empty.

    `frozen` is the claim's `deciding` in that edition, None if it had no such claim.
    """
    if frozen is None or frozen == claim.deciding:
        return {}
    old = {name: Part(name, name, **part | {"rule": read_rule(part["rule"])}) for name, part in frozen["parts"].items()}
    was = "; ".join(f"{name}: {part.rule.text}" for name, part in old.items())
    if set(old) - set(estimates):
        return {"was": was, "verdict": NOT_COMPUTED}
    states = {name: part.rule.state(estimates[name]) for name, part in old.items()}
    return {"was": was, "verdict": replace(claim, parts=old).verdict(states)[0]}


def not_evaluated(claim: Claim, why: str) -> dict[str, Any]:
    """Return the record of a claim that this run could not judge."""
    words = ("id", "where", "kind", "counts_as", "quote", "says", "substitute_data", "sanity_check")
    record = {name: getattr(claim, name) for name in (*words, "changes")}
    parts = {}
    for name, part in claim.parts.items():
        told = {"is": part.what, "rule": part.rule.text, "scale": part.scale or part.rule.nearest_scale}
        parts[name] = told | part.set_of("control", "own", "interpretation")
    return record | {"verdict": "not evaluated", "deciding": "", "finds": "", "parts": parts, "note": why}
