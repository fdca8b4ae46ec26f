"""environment.yml, pyproject.toml and the locks ask for the same things; the version is the same
everywhere.
"""

import json
import re
import tomllib
from pathlib import Path

import pytest
import yaml
from hatchling.builders.sdist import SdistBuilder
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
EXTRAS = ("report", "test")  # what environment.yml and the lock install besides the core
CONDA_NAMES = {"matplotlib-base": "matplotlib", "seaborn-base": "seaborn"}


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", CONDA_NAMES.get(name, name)).lower()


def parsed(lines: list[str]) -> dict[str, str]:
    """Name -> version bounds, in one spelling."""
    requirements = [Requirement(line) for line in lines]
    return {canonical(r.name): str(r.specifier) for r in requirements}


def test_what_is_published_has_no_kept_trials():
    files = [each.distribution_path for each in SdistBuilder(str(ROOT)).recurse_included_files()]
    assert "results/paper/04_bkb_variance_starvation/claims.json" in files
    assert not any("/played/" in path for path in files)


@pytest.fixture(scope="module")
def project() -> dict:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.fixture(scope="module")
def environment() -> dict:
    return yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))


def pins_of(lock: str) -> list[tuple[str, str]]:
    """Name and whole entry of each pin in a lock."""
    text = re.sub(r"(?m)^\s*#.*\n", "", (ROOT / lock).read_text(encoding="utf-8"))
    entries = [entry for entry in re.split(r"(?m)^(?=\S)", text) if entry.strip()]
    return [(canonical(re.match(r"[\w.-]+", entry)[0]), entry) for entry in entries]


@pytest.fixture(scope="module")
def pins() -> list[tuple[str, str]]:
    return pins_of("requirements.lock")


def test_conda_and_pip_users_get_the_same_versions(project, environment):
    *conda, last = environment["dependencies"]
    *from_pip, editable = last["pip"]
    assert editable == "-e ." and environment["channels"] == ["conda-forge"]
    ours = parsed([line for line in conda if line != "pip"] + from_pip)
    extras = [line for extra in EXTRAS for line in project["optional-dependencies"][extra]]
    theirs = parsed(project["dependencies"] + extras) | parsed(
        [f"python{project['requires-python']}"]
    )
    # none is named twice; pip is not ours
    assert ours == theirs and len(ours) == len(conda) + len(from_pip) - 1


def test_the_lock_holds_what_pyproject_asks_for(project, pins):
    extras = [line for extra in EXTRAS for line in project["optional-dependencies"][extra]]
    wanted = [Requirement(line) for line in [*project["dependencies"], *extras]]
    locked = [(name, re.match(r"\S+==([\w.!+]+)", entry)[1]) for name, entry in pins]
    absent = {canonical(r.name) for r in wanted} - {name for name, _ in locked}
    bounds = {canonical(r.name): r.specifier for r in wanted}
    outside = [pin for pin in locked if pin[0] in bounds and not bounds[pin[0]].contains(pin[1])]
    assert (absent, outside) == (set(), [])


def test_every_python_gets_the_same_version_of_every_package(pins):
    names = [name for name, _ in pins]
    assert {name for name in names if names.count(name) > 1} == set()


def test_jupyterlab_is_locked_apart_and_brings_no_other_version_of_what_is_there(project, pins):
    (wanted,) = map(Requirement, project["optional-dependencies"]["lab"])
    lab = dict(pins_of("requirements-lab.lock"))
    assert wanted.specifier.contains(re.match(r"\S+==([\w.!+]+)", lab["jupyterlab"])[1])
    assert all("--hash=sha256:" in entry for entry in lab.values())
    assert not lab.keys() & dict(pins).keys()
    (command,) = re.findall(r"(?m)^lab:.*\n\t(.*)", (ROOT / "Makefile").read_text(encoding="utf-8"))
    assert "--require-hashes -r requirements-lab.lock" in command and "-e" not in command.split()


def test_the_version_is_the_same_everywhere(project):
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    deposit = json.loads((ROOT / ".zenodo.json").read_text(encoding="utf-8"))
    assert citation["version"] == deposit["version"] == project["version"]
