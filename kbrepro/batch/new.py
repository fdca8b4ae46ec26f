"""A new paper from the template: one policy, one experiment, one figure, two claims and a lemma,
which run.
"""

import keyword
import re
from pathlib import Path

from kbrepro import checks, papers, paths

TEMPLATE = Path(__file__).with_name("template")


def add(root: Path, number: str, name: str) -> list[str]:
    """Write a paper's folder, notebook, quick profile and test, and add it to CITATION.cff; return
    relative paths.

    Raises ValueError unless the number has two digits that no notebook has, and the name is one of
    a new folder that can be imported: neither a keyword nor a name that `kbrepro.papers` has.
    """
    if not re.fullmatch(r"[0-9]{2}", number) or [*root.glob(f"notebooks/{number}_*")]:
        raise checks.refused("number", number, "two digits that no notebook has")
    is_free = not (root / "kbrepro/papers" / name).exists() and not hasattr(papers, name)
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or keyword.iskeyword(name) or not is_free:
        raise checks.refused(
            "name",
            name,
            "a new folder's name of a to z, 0 to 9 and _, such as my_paper, not a Python keyword",
        )
    words = {
        "NN_": f"{number}_",
        "N-": f"{int(number)}-",
        "NAME": name,
        "TITLE": name.replace("_", " ").capitalize(),
    }
    written = []
    for path in sorted(TEMPLATE.rglob("*.txt")):
        where = _filled(path.relative_to(TEMPLATE).as_posix().removesuffix(".txt"), words)
        # of CITATION.cff
        before = (root / where).read_text(encoding="utf-8") if (root / where).is_file() else ""
        paths.write_text(root / where, before + _filled(path.read_text(encoding="utf-8"), words))
        written.append(where)
    return written


def _filled(text: str, words: dict[str, str]) -> str:
    for word, value in words.items():
        text = text.replace(word, value)
    return text
