"""The page of every figure, table and statement of the papers: results/figures.md."""

import re
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from textwrap import shorten

import pandas as pd

from kbrepro import paths
from kbrepro.claims.judging import NOT, SOMETIMES
from kbrepro.claims.scorecard import Card, shown_number, shown_verdict

#: A row each, by hand: what the papers have, with `{1-D}` where a verdict stands; why a sentence
#: does not come out.
ITEMS = "docs/items.csv"
REASONS = "docs/reasons.csv"
#: The words of the page, which stand around its tables.
PAGE = "docs/figures.txt"
ROW = '| <a id="{anchor}"></a>**{item}**<br>{what} | {picture}{table}{notebook} | {outcome} |'
#: How a cell of a column is shown, if there is one.
SHOWN = {
    "picture": '<img src="paper/{picture}" width="160" alt="{what}"><br>',
    "table": "[table](paper/{table})<br>",
    "notebook": "[notebook](../notebooks/{notebook})",
}
FIGURE = (
    '| <img src="paper/{picture}" width="240" alt="{item}">'
    " | {paper}, {item}: {what} | [notebook](../notebooks/{notebook}) |"
)
#: Tables of notebook 03, and how a line of each is shown.
TABLES = {
    "table1_regret": (
        "| {lengthscale} | {d} | {algorithm} | {printed} | {ours:.2f} | ± {half-width:.2f} |"
    ),
    "table1_seconds": "| {d} | {printed ratio:.3g} | {ratio:.3g} |",
}
WHY = "- {}: “{}” ([{where}](README.md#{id})). {}. *Why:* {}"


def every_item(root: Path, runs: Mapping[str, Card]) -> str:
    """Return the page in Markdown: items by paper, Table 1 of Janz et al. beside ours, what did not
    come out and why, and all figures.

    `runs` are the claims and theorems of notebooks; pictures and tables are those of full scale.
    """
    items = pd.read_csv(root / ITEMS, keep_default_na=False)
    reasons = dict(pd.read_csv(root / REASONS).to_numpy())
    janz = root / "results" / paths.FULL_SCALE / "03_pi_gp_ucb_scaling"
    blocks: dict[str, list[str]] = defaultdict(list, why=[])
    verdicts = defaultdict(lambda: "not run")
    for run in runs.values():
        for record in run["claims"] + run["theorems"]:
            # without what other interpretations say
            verdict = re.split("[,:]", shown_verdict(record))[0]
            verdicts[record["id"]] = f"[{verdict}](README.md#{record['id']})"
            if record.get("verdict") in (NOT, SOMETIMES):
                quote = shorten(record["quote"], 110, placeholder=" …")
                cells = quote, shown_number(record)[0], reasons.get(record["id"], "Not known.")
                blocks["why"].append(WHY.format(verdict, *cells, **record))
    for row in items.to_dict("records"):
        shown = {column: cell.format_map(row) * bool(row[column]) for column, cell in SHOWN.items()}
        blocks[row["paper"]].append(ROW.format_map(row | shown).format_map(verdicts))
    pictured = items[items["picture"] > ""].drop_duplicates("picture")
    blocks["figures"] += map(FIGURE.format_map, pictured.to_dict("records"))
    for name, line in TABLES.items():
        table = pd.read_csv(janz / f"tables/{name}.csv")
        blocks[name] += map(line.format_map, table.to_dict("records"))
    said = paths.facts_of(janz)["parameters"] | {"items": len(items)}
    said |= items["state"].value_counts()
    said |= {name: "\n".join(lines) for name, lines in blocks.items()}
    return (root / PAGE).read_text("utf-8").format_map(said)
