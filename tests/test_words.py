"""Words that no reader knows stay out of code, rules, pages and committed results (docs/claims.md has ours)."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BANNED = r"\bTold\b|(?i:\bof record\b|\bstand-?ins?\b|\bby its letter\b|\bprobes?\b|\breadings? of the paper\b)"
#: What was called so before, and what not to write.
QUOTING = ("CHANGELOG.md", "CONTRIBUTING.md")
KINDS = ("*.py", "*.md", "*.yaml", "results/*.json", "results/*.ipynb", "notebooks/*.ipynb")


def committed():
    said = subprocess.run(["git", "ls-files", *KINDS], cwd=ROOT, capture_output=True, text=True, check=False)
    return [name for name in said.stdout.splitlines() if name not in QUOTING and "played/" not in name]


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="no git checkout")
def test_words_that_no_reader_knows_are_gone():
    here = Path(__file__).relative_to(ROOT).as_posix()
    texts = {name: (ROOT / name).read_text(encoding="utf-8") for name in committed() if name != here}
    assert len(texts) > 100
    found = {name: its for name, text in texts.items() if (its := set(re.findall(BANNED, text)))}
    assert found == {}
