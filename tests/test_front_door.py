"""`import kbrepro as kb`: what it gives, and what it does not load."""

import json
import subprocess
import sys

import kbrepro as kb

NUMERIC = "numpy, scipy.linalg, scipy.spatial.distance, scipy.special, joblib, threadpoolctl, tqdm"
LOADED = """
import json, sys, time
start = time.perf_counter()
import {packages}
seconds = time.perf_counter() - start
print(json.dumps([seconds, sorted(sys.modules)]))
"""


def loaded(packages):
    """Seconds that an import takes in a new program, and the names of all modules that it has then."""
    code = LOADED.format(packages=packages)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    seconds, modules = json.loads(done.stdout)
    return seconds, set(modules)


def test_the_package_loads_nothing_but_numbers(capsys):
    (seconds, ours), (of_the_numeric, theirs) = loaded("kbrepro"), loaded(NUMERIC)
    with capsys.disabled():
        print(f" import kbrepro: {seconds:.2f} s; the numeric packages alone: {of_the_numeric:.2f} s ", end="")
    others = {name.partition(".")[0] for name in ours - theirs} - sys.stdlib_module_names
    assert others == {"kbrepro"}
    heavy = {"IPython", "click", "matplotlib", "pandas", "papermill", "scipy.stats", "seaborn", "yaml"}
    assert not heavy & ours
    rooms = {name.split(".")[1] for name in ours if name.startswith("kbrepro.")}
    assert not rooms & {"batch", "claims", "data", "figures", "papers", "record"}


def test_every_name_is_there_is_explained_and_nothing_else_is():
    assert sorted(kb.__all__) == sorted(set(kb.__all__))
    for name in kb.__all__:
        assert getattr(kb, name).__doc__, name
    modules = {name for name in vars(kb) if f"kbrepro.{name}" in sys.modules}
    assert {name for name in vars(kb) if not name.startswith("_")} - modules == set(kb.__all__)


def test_the_story_names_what_it_is_about():
    story = kb.__doc__.split("\n\n")[1]
    assert len(story.splitlines()) <= 10
    told = [word for word in kb.__all__ if f"`{word}`" in story]
    assert len(told) >= 8
