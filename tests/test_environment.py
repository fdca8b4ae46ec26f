"""environment.yml, pyproject.toml and the locks ask for the same things; the version is the same
everywhere.
"""

import json
import re
import tomllib
from pathlib import Path

import yaml
from hatchling.builders.sdist import SdistBuilder
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
#: What environment.yml and the lock install: the core and two extras.
WANTED = PROJECT["dependencies"] + EXTRAS["report"] + EXTRAS["test"]
CONDA_NAMES = {"matplotlib-base": "matplotlib", "seaborn-base": "seaborn"}


def bounds_of(lines):
    """Version bounds by name, in one spelling."""
    bounds = {}
    for line in lines:
        wanted = Requirement(line)
        name = CONDA_NAMES.get(wanted.name, wanted.name)
        bounds[re.sub(r"[-_.]+", "-", name).lower()] = wanted.specifier
    return bounds


def entries_of(lock):
    """Name, version and hashes of each pin in a lock."""
    text = (ROOT / lock).read_text(encoding="utf-8")
    return re.findall(r"^([\w.-]+)==([\w.!+]+)(.*(?:\n +--hash.*)*)", text, flags=re.M)


def test_what_is_published_has_no_kept_trials():
    files = [file.distribution_path for file in SdistBuilder(str(ROOT)).recurse_included_files()]
    assert "results/paper/04_bkb_variance_starvation/claims.json" in files
    assert not any("/played/" in path for path in files)


def test_conda_and_pip_users_get_the_same_versions():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    *conda, pip = environment["dependencies"]
    *from_pip, editable = pip["pip"]
    assert editable == "-e ." and environment["channels"] == ["conda-forge"]
    lines = [line for line in conda + from_pip if line != "pip"]
    assert bounds_of(lines) == bounds_of([*WANTED, f"python{PROJECT['requires-python']}"])
    assert len(bounds_of(lines)) == len(lines)  # none is named twice


def test_the_lock_holds_what_pyproject_asks_for_once_for_every_python():
    entries, bounds = entries_of("requirements.lock"), bounds_of(WANTED)
    versions = {name: version for name, version, _ in entries}
    there = {name: bounds[name].contains(versions[name]) for name in bounds if name in versions}
    assert there == dict.fromkeys(bounds, True) and len(versions) == len(entries)


def test_jupyterlab_is_locked_apart_and_brings_no_other_version_of_what_is_there():
    lab = {name: entry for name, *entry in entries_of("requirements-lab.lock")}
    (wanted,) = bounds_of(EXTRAS["lab"]).values()
    assert wanted.contains(lab["jupyterlab"][0])
    assert all("--hash=sha256:" in hashes for _, hashes in lab.values())
    assert not lab.keys() & {name for name, *_ in entries_of("requirements.lock")}
    (command,) = re.findall(r"(?m)^lab:.*\n\t(.*)", (ROOT / "Makefile").read_text(encoding="utf-8"))
    assert "--require-hashes -r requirements-lab.lock" in command and "-e" not in command.split()


def test_the_version_is_the_same_everywhere():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    deposit = json.loads((ROOT / ".zenodo.json").read_text(encoding="utf-8"))
    assert citation["version"] == deposit["version"] == PROJECT["version"]
