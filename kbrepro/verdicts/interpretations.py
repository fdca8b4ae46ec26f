"""Every interpretation, played: the cross of the choices that a paper leaves open, and what they decide.

A *choice* has a name (incumbent, margin ...) and values; an *interpretation* gives every choice one value, the *main*
one the first of each.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from kbrepro import checks
from kbrepro.regret import Estimate
from kbrepro.verdicts.claims import Part


def cross(choices: Mapping[str, Sequence[Any]], *, at_most: int = 0, seed: int = 0) -> list[dict[str, Any]]:
    """Return all interpretations, the main one first; with `at_most` that one and a random sample of the others.

    Raises ValueError if a choice has no value.
    """
    checks.non_negative_int(at_most=at_most, seed=seed)
    for name, values in choices.items():
        if not len(values):
            raise ValueError(f"choice {name!r} has no value: it must have at least one")
    interpretations = [dict(zip(choices, values, strict=True)) for values in product(*choices.values())]
    if not at_most or at_most >= len(interpretations):
        return interpretations
    others = np.random.default_rng(seed).choice(len(interpretations) - 1, at_most - 1, replace=False)
    return [interpretations[0], *(interpretations[1 + i] for i in sorted(others))]


def specification(part: Part, found: Iterable[tuple[Mapping[str, Any], Estimate]]) -> pd.DataFrame:
    """Return one row an interpretation, sorted by value: its choices, `value`, `low`, `high`, `state` and `main`.

    `found` starts with the main interpretation; its intervals are the part's. Raises ValueError if it is empty.
    """
    rows = [
        {**interpretation, **estimate._asdict(), "state": part.rule.state(estimate), "main": number == 0}
        for number, (interpretation, estimate) in enumerate(found)
    ]
    if not rows:
        raise ValueError(f"part {part.name}: no interpretation was played")
    return pd.DataFrame(rows).sort_values("value", kind="stable", ignore_index=True)


def flips(table: pd.DataFrame, choices: Sequence[str]) -> dict[str, float]:
    """Return for each choice the share of pairs, alike but for it, of which one holds and the other not."""
    holds = table["state"].to_numpy() == "holds"
    shares = {}
    for name in choices:
        others = [other for other in choices if other != name]
        groups = table.groupby(others, sort=False).indices.values() if others else [np.arange(len(table))]
        pairs = sum(len(rows) * (len(rows) - 1) // 2 for rows in groups)
        differ = sum(int(holds[rows].sum()) * int((~holds[rows]).sum()) for rows in groups)
        shares[name] = differ / pairs if pairs else 0.0
    return shares


def counts(table: pd.DataFrame, choices: Sequence[str]) -> dict[str, Any]:
    """Return in how many a part `holds` and `fails`, `of` how many, which choice `decides`, and `flips`.

    A choice decides alone if whether the part holds is a function of it.
    """
    holds, share = table["state"] == "holds", flips(table, choices)
    alone = [name for name in choices if holds.groupby(table[name].map(str)).nunique().max() == 1]
    most = max(share, key=share.__getitem__)
    decides = f"the {alone[0]} alone decides" if alone else f"what matters most: {most}"
    told = {"holds": int(holds.sum()), "fails": int((table["state"] == "fails").sum()), "of": len(table)}
    return told | {"decides": decides if holds.nunique() > 1 else "", "flips": share}


def in_words(found: Mapping[str, Any], *, fails: bool = False) -> str:
    """Return `counts` as 'holds in k of n interpretations; the x alone decides', where wanted with those that fail."""
    text = (
        f"holds in {found['holds']}" + f" and fails in {found['fails']}" * fails + f" of {found['of']} interpretations"
    )
    return "; ".join(filter(None, [text, found["decides"]]))


def ranking(played: Mapping[str, Mapping[str, float]]) -> pd.DataFrame:
    """Return the choices ranked by how many claims they flip: {claim id: flips} -> rows choice, flips, of, share.

    A choice flips a claim if some two that differ in it alone do; `share` is the mean share of such pairs.
    """
    rows = []
    for name in dict.fromkeys(name for its in played.values() for name in its):
        shares = [its[name] for its in played.values() if name in its]
        rows.append({"choice": name, "flips": sum(s > 0 for s in shares), "of": len(shares), "share": np.mean(shares)})
    table = pd.DataFrame(rows, columns=["choice", "flips", "of", "share"])
    return table.sort_values(["flips", "share"], ascending=False, ignore_index=True)
