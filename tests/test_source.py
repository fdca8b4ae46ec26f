"""What kept results depend on: the modules that the settings use, and nothing else."""

import shutil
from functools import partial

import pytest

from kbrepro import problems, source
from kbrepro.kernels import SquaredExponential, grid
from kbrepro.policies import UCB
from kbrepro.simulation import on_exact_posterior


def test_the_modules_of_settings_are_found_through_imports():
    assert source.modules_of(SquaredExponential(0.2)) == {"kbrepro", "kbrepro.kernels", "kbrepro.checks"}
    used = source.modules_of({"policy": on_exact_posterior(UCB, width=abs)})
    assert {"kbrepro.policies.ucb", "kbrepro.policies.index", "kbrepro.ties", "kbrepro.simulation"} <= used
    assert not used & {"kbrepro.policies.improvement", "kbrepro.figures", "kbrepro.claims", "kbrepro.datasets"}


def test_settings_without_kbrepro_use_nothing_of_it():
    assert source.modules_of(partial(max, 3)) == set()


def test_a_function_of_the_main_program_is_refused(monkeypatch):
    def mine(): ...

    import __main__

    mine.__module__, mine.__qualname__ = "__main__", "mine"
    monkeypatch.setattr(__main__, "mine", mine, raising=False)
    with pytest.raises(ValueError, match="must stand in a module"):
        source.modules_of(partial(problems.gp_draw, arms=mine))


@pytest.fixture
def copy(tmp_path, monkeypatch):
    folder = tmp_path / "kbrepro"
    shutil.copytree(source.PACKAGE, folder, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(source, "PACKAGE", folder)
    return folder


@pytest.mark.parametrize("module", ["kernels.py", "ties.py", "policies/ucb.py", "problems.py", "simulation.py"])
def test_the_digest_follows_the_modules_in_use_only(copy, module):
    settings = (on_exact_posterior(UCB, width=abs), partial(problems.gp_draw, arms=grid(3)))
    before = source.digest(source.modules_of(settings))
    for bystander in ("figures.py", "policies/improvement.py"):
        (copy / bystander).write_text("# another\n", encoding="utf-8")
    assert source.digest(source.modules_of(settings)) == before
    with (copy / module).open("a", encoding="utf-8") as file:
        file.write("\n# changed\n")
    assert source.digest(source.modules_of(settings)) != before


def test_the_digest_of_all_sees_every_file(copy):
    before = source.digest()
    (copy / "figures.py").write_text("# another\n", encoding="utf-8")
    assert source.digest() != before
