"""The notebooks in a real JupyterLab: kernel restarted, all cells run, no error, folds open."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import pytest
from browser import CHROMIUM, Browser

ROOT = Path(__file__).parents[2]
NAMES = sorted(path.stem for path in (ROOT / "notebooks").glob("*.ipynb"))
SCREEN = 900  # pixels high, as `Browser` opens it
FLAGS = ["--no-browser", "--port=0", "--IdentityProvider.token=", "--LabApp.expose_app_in_browser=True", "--allow-root"]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no chromium, chromium-browser or google-chrome is installed"),
    pytest.mark.skipif(importlib.util.find_spec("jupyterlab") is None, reason="JupyterLab is not installed: make lab"),
]


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """The address of a JupyterLab on a copy of the notebooks, whose sensors are the substitute."""
    root = tmp_path_factory.mktemp("project")
    for name in ("notebooks", "kbrepro", "docs", "results/paper"):
        shutil.copytree(
            ROOT / name,
            root / name,
            copy_function=shutil.copy,
            ignore=shutil.ignore_patterns("*.csv", "*.svg", "*.partial"),  # 06 reads trials that 03 and 04 keep
        )
    (root / "data").mkdir()
    settings = {
        name: str(root / name) for name in ("JUPYTER_CONFIG_DIR", "JUPYTERLAB_SETTINGS_DIR", "JUPYTER_DATA_DIR")
    }
    settings |= {"KBREPRO_DATA": str(root / "data"), "OMP_NUM_THREADS": "1", "TQDM_DISABLE": "1"}
    command = [sys.executable, "-m", "jupyterlab", *FLAGS]
    log, end = root / "log.txt", time.monotonic() + 60
    with log.open("w") as told:
        server = subprocess.Popen(command, cwd=root, env=os.environ | settings, stdout=told, stderr=told)
    while not (address := re.search(r"http://(?:localhost|127\.0\.0\.1):\d+/", log.read_text(encoding="utf-8"))):
        assert time.monotonic() < end and server.poll() is None, log.read_text(encoding="utf-8")
        time.sleep(0.5)
    yield address[0]
    server.kill()
    server.wait()


@pytest.fixture
def browser(tmp_path):
    browser = Browser(tmp_path)
    yield browser
    browser.close()


def until(browser, expression, seconds):
    """What an expression is as soon as it is true; an error after so many seconds."""
    end = time.monotonic() + seconds
    while not (its := browser.ask(expression)):
        assert time.monotonic() < end, f"never true: {expression}"
        time.sleep(0.5)
    return its


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_runs_top_to_bottom_and_its_folds_open(lab, browser, name):
    browser.visit(f"{lab}lab/tree/notebooks/{name}.ipynb", 1400)
    cells = "window.jupyterapp?.shell.currentWidget?.content?.widgets"
    n = len(nbformat.read(ROOT / "notebooks" / f"{name}.ipynb", as_version=4).cells)
    until(browser, f"{cells}?.length == {n} && jupyterapp.shell.currentWidget.sessionContext.isReady", 90)
    glance = f"{cells}.find(c => (c.model.getMetadata('tags') ?? []).includes('at-a-glance')).node"
    until(browser, f"{glance}.getBoundingClientRect().height > 0", 30)
    assert browser.ask(f"{glance}.getBoundingClientRect().top") < SCREEN, "the answer stands in the first screen"

    code = f"{cells}.filter(c => c.model.type == 'code')"
    folds = {"inputHidden": "source_hidden", "outputHidden": "outputs_hidden"}
    for hidden, flag in folds.items():
        folded = f"{code}.filter(c => (c.model.getMetadata('jupyter') ?? {{}}).{flag})"
        assert browser.ask(f"{folded}.length > 0 && {folded}.every(c => c.{hidden})")
    browser.ask(
        f"window.fold = {code}.find(c => c.inputHidden), window.fold.node.querySelector('.jp-Placeholder').click()"
    )
    until(browser, "!window.fold.inputHidden", 10)

    started = time.monotonic()
    browser.ask("jupyterapp.commands.execute('notebook:restart-run-all').then(ok => window.ended = ok), 0")
    until(browser, "!!document.querySelector('.jp-Dialog .jp-mod-accept')", 30)
    browser.ask("document.querySelector('.jp-Dialog .jp-mod-accept').click()")
    until(browser, "window.ended !== undefined", 300)
    print(f"{name}: {time.monotonic() - started:.0f} s in JupyterLab")
    outputs = f"{code}.flatMap(c => c.model.outputs.toJSON())"
    assert browser.ask(f"{outputs}.filter(o => o.output_type == 'error').map(o => o.evalue)") == []
    assert browser.ask("window.ended") is True
    assert browser.ask(f"{code}.every((c, i) => c.model.executionCount == i + 1)")
