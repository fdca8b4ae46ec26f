"""Every interpretation, played: all combinations of the choices that a paper leaves open, and what they decide.

A *choice* has a name (incumbent, margin ...) and values; an *interpretation* gives every choice one value, and the
*main* one has the first value of each.
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
    """Return all interpretations, the main one first; with `at_most`, that one and a random sample of the others.

    Raises ValueError if a choice has no value.
    """
    checks.non_negative_int(at_most=at_most, seed=seed)
    if empty := [name for name, values in choices.items() if not len(values)]:
        raise ValueError(f"choice {empty[0]!r} has no value: it must have at least one")
    interpretations = [dict(zip(choices, values, strict=True)) for values in product(*choices.values())]
    if not at_most or at_most >= len(interpretations):
        return interpretations
    others = np.random.default_rng(seed).choice(len(interpretations) - 1, at_most - 1, replace=False)
    return [interpretations[0], *(interpretations[1 + i] for i in sorted(others))]


def specification(part: Part, found: Iterable[tuple[Mapping[str, Any], Estimate]]) -> pd.DataFrame:
    """Return one row per interpretation, sorted by value: its choices, `value`, `low`, `high`, `state` and `main`.

    `found` starts with the main interpretation and has estimates of the part. Raises ValueError if it is empty.
    """
    rows = [
        {**interpretation, **estimate._asdict(), "state": part.rule.state(estimate), "main": number == 0}
        for number, (interpretation, estimate) in enumerate(found)
    ]
    if not rows:
        raise ValueError(f"part {part.name}: no interpretation was played")
    return pd.DataFrame(rows).sort_values("value", kind="stable", ignore_index=True)


def flips(table: pd.DataFrame, choices: Sequence[str]) -> dict[str, float]:
    """Return for each choice the share of pairs that vary only in it and of which exactly one holds."""
    shares = {}
    for name in choices:
        others = [table[other] for other in choices if other != name] or [np.zeros(len(table))]
        alike = (table["state"] == "holds").groupby(others, sort=False)
        n, hold = alike.count(), alike.sum()
        pairs, differ = int((n * (n - 1) // 2).sum()), int((hold * (n - hold)).sum())
        shares[name] = differ / pairs if pairs else 0.0
    return shares


def counts(table: pd.DataFrame, choices: Sequence[str]) -> dict[str, Any]:
    """Return in how many a part `holds` and `fails`, `of` how many, what `decides` and `matters_most`, and `flips`.

    A choice decides alone if it determines whether the part holds.
    """
    holds, share = table["state"] == "holds", flips(table, choices)
    alone = [name for name in choices if holds.groupby(table[name].map(str)).nunique().max() == 1]
    most = max(share, key=share.__getitem__)
    decides = f"the {alone[0]} alone decides" if alone else f"the {most} matters most"
    told = {"holds": int(holds.sum()), "fails": int((table["state"] == "fails").sum()), "of": len(table)}
    return told | {"matters_most": most, "decides": decides if holds.nunique() > 1 else "", "flips": share}


def in_words(found: Mapping[str, Any]) -> str:
    """Return `counts` as 'holds 18, fails 24, open 54 of 96; the incumbent alone decides'."""
    its = {"holds": found["holds"], "fails": found["fails"]}
    its["open"] = found["of"] - sum(its.values())
    text = f"{', '.join(f'{how} {n}' for how, n in its.items() if n)} of {found['of']}"
    return f"{text}; {found['decides']}" if found["decides"] else text


def joint(specified: Mapping[str, pd.DataFrame], shared: Sequence[str], fixed: Mapping[str, Any]) -> pd.DataFrame:
    """Return one row per combination of the `shared` choices: the state of every claim's played part, and `holds`.

    `specified` is {claim: table of `specification`}, the first with all shared choices; a claim without one of them has
    the same state for all its values. Choices that are not shared are `fixed`. Sorted by how many claims hold.
    """
    rows = next(iter(specified.values()))[[*shared]].drop_duplicates()
    for claim, table in specified.items():
        there = table[[all(row[name] == fixed[name] for name in fixed if name in table) for _, row in table.iterrows()]]
        on = [name for name in shared if name in table]
        rows = rows.merge(there[[*on, "state"]].rename(columns={"state": claim}), on=on, how="left")
    rows["holds"] = (rows[[*specified]] == "holds").sum(axis=1)
    return rows.sort_values("holds", ascending=False, kind="stable", ignore_index=True)


def ranking(played: Mapping[str, Mapping[str, float]]) -> pd.DataFrame:
    """Return the choices ranked by how many claims they flip: {claim id: flips} -> rows choice, flips, of, share.

    A choice flips a claim if some pair that varies only in it does; `share` is the mean share of such pairs.
    """
    shares = pd.DataFrame([*played.values()])
    table = pd.DataFrame({"flips": (shares > 0).sum(), "of": shares.count(), "share": shares.mean()})
    return table.rename_axis("choice").reset_index().sort_values(["flips", "share"], ascending=False, ignore_index=True)
