"""The page of every figure, table and statement of the papers: results/figures.md."""

from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from kbrepro import paths
from kbrepro.claims.judging import NOT, SOMETIMES
from kbrepro.claims.scorecard import Card, in_short, shown_number, shown_outcome

#: A row each, by hand: what the papers have, with `{1-D}` where a verdict stands; why a sentence
#: does not come out.
ITEMS = "docs/items.csv"
REASONS = "docs/reasons.csv"
#: The words of the page, which stand around its tables. A line that begins with % names a table of
#: results, and says how its rows are shown.
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
WHY = "- {}: {} ([{where}](README.md#{id})). {}. *Why:* {}"


def every_item(root: Path, runs: Mapping[str, Card]) -> str:
    """Return the page in Markdown: items by paper, printed tables beside ours, what did not come
    out and why, and all figures.

    `runs` are the claims and theorems of notebooks; pictures and tables are those of full scale.
    """
    items = pd.read_csv(root / ITEMS, keep_default_na=False)
    reasons = dict(pd.read_csv(root / REASONS).to_numpy())
    blocks: dict[str, list[str]] = defaultdict(list, why=[])
    verdicts = defaultdict(lambda: "not run")
    for run in runs.values():
        for record in run["claims"] + run["theorems"]:
            verdict = shown_outcome(record)
            verdicts[record["id"]] = f"[{verdict}](README.md#{record['id']})"
            if record.get("verdict") in (NOT, SOMETIMES):
                cells = in_short(record), shown_number(record)[0]
                why = reasons.get(record["id"], "Not known.")
                blocks["why"].append(WHY.format(verdict, *cells, why, **record))
    for row in items.to_dict("records"):
        shown = {column: cell.format_map(row) * bool(row[column]) for column, cell in SHOWN.items()}
        blocks[row["paper"]].append(ROW.format_map(row | shown).format_map(verdicts))
    pictured = items[items["picture"] > ""].drop_duplicates("picture")
    blocks["figures"] += map(FIGURE.format_map, pictured.to_dict("records"))
    said = {"items": len(items)} | items["state"].value_counts().to_dict()
    said |= {name: "\n".join(lines) for name, lines in blocks.items()}
    page: list[str] = []
    for line in (root / PAGE).read_text("utf-8").splitlines():
        if line.startswith("% "):
            _, name, row = line.split(" ", 2)
            table = pd.read_csv(root / "results" / paths.FULL_SCALE / name)
            page += map(row.format_map, table.to_dict("records"))
        else:
            page.append(line.format_map(said))
    return "\n".join(page) + "\n"
