"""Executed notebooks without what changes from run to run: times, progress bars, random ids, machine paths."""

import re
from pathlib import Path

import nbformat
from nbformat import NotebookNode

_BAR = re.compile(r"\r|\x1b\[A|\d+%\|.*\|")  # of tqdm


def tidy(notebook: NotebookNode, root: Path) -> NotebookNode:
    """Return the notebook, changed in place, without papermill's and Jupyter's timings and without progress bars."""
    notebook.metadata.pop("papermill", None)
    notebook.metadata["language_info"] = {"name": "python"}
    for number, cell in enumerate(notebook.cells):
        cell["id"] = f"cell-{number:02}"
        for name in ("papermill", "execution"):
            cell.metadata.pop(name, None)
        if "injected-parameters" in cell.metadata.get("tags", []):  # where it ran, and what a profile changes
            cell.metadata["tags"].append("hide-input")
        if not cell.metadata.get("tags"):
            cell.metadata.pop("tags", None)
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if _tidy_output(output, root)]
    return notebook


def _tidy_output(output: NotebookNode, root: Path) -> bool:
    """Clean what the notebook wrote to stderr; return whether anything is left of the output."""
    if output.output_type == "stream" and output.name == "stderr":
        kept = [line for line in output.text.split("\n") if not _BAR.search(line)]
        output.text = "\n".join(kept).replace(f"{root}/", "")
        return bool(output.text.strip())
    return True


def tidy_log(log: Path, root: Path) -> None:
    """Keep the last state of every progress bar, and paths relative to the root."""
    text = log.read_bytes().decode(errors="replace")  # read_text would turn every carriage return into a line
    log.write_text(re.sub(r"[^\n]*\r(?!\n)", "", text).replace(f"{root}/", ""), encoding="utf-8")


def last_error(folder: Path) -> str:
    """Return the error of the failed cell in a folder's notebook.ipynb, else the last lines of its log.txt."""
    if (path := folder / "notebook.ipynb").is_file():
        outputs = (output for cell in nbformat.read(path, as_version=4).cells for output in cell.get("outputs", []))
        for output in outputs:
            if output.output_type == "error":
                return f"{output.ename}: {output.evalue}"
    lines = (folder / "log.txt").read_text(encoding="utf-8").strip().splitlines()
    return "\n".join(lines[-3:]) or "it left no message"
