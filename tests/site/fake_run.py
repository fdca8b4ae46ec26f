"""What a run of the small project leaves, and whom the project cites."""

import json

from fake_project import make_project

CLAIM = {
    "id": "1-A", "where": "Fig. 1", "kind": "experiment", "counts_as": "experiment", "says": "Small is beautiful.",
    "finds": "It is, by 3.", "verdict": "reproduced", "deciding": "", "note": "", "changes": [],
    "quote": "Small is beautiful!", "sanity_check": "", "substitute_data": "",
    "parts": {"it": {"is": "size", "rule": "> 0", "shown": "3", "state": "holds"}},
}  # fmt: skip
FACTS = {
    "profile": "quick", "parameters": {"horizon": 20}, "versions": {"numpy": "2"}, "data": {"lab/one.csv": "abc"},
    "git": {"commit": "c0ffee", "dirty": False}, "seconds": 90.0, "compute_seconds": 600.0, "jobs": 3,
}  # fmt: skip
CITATION = """{title: All, version: 1.0, authors: [{name: we}], references: [
  {title: On Small, authors: [{given-names: A., family-names: Low}, {given-names: B., family-names: Lee}], year: 1999,
   url: "https://a.b/c", notes: Notebook 01_small},
  {title: On Big, authors: [{given-names: C., family-names: Other}], year: 2002, url: "", notes: Notebook 02_big}]}
"""


def cited_project(root):
    """The small project, with whom it cites."""
    make_project(root)
    (root / "CITATION.cff").write_text(CITATION)
    return root


def write_run(folder, claims, expected=(), **facts):
    """Leave claims and facts of a run in its folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "claims.json").write_text(json.dumps({"rules": "r", "expected": list(expected), "claims": claims}))
    (folder / "run.json").write_text(json.dumps(FACTS | facts))
