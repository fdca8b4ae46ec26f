"""Our policies, played as a reader's, have the kept regret again; what people see of their own and
of mistakes.
"""

import re
import shutil
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from fake_project import make_project, notebook_of, write_paper
from registering import registered

import kbrepro as kb
from kbrepro.__main__ import main
from kbrepro.batch import beside, play, profiles

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/beside.md").read_text(encoding="utf-8")
TABLE, DATA = "Table 1, d = 1", "Fig. 4, minutes"
RULES = {"EI": kb.ExpectedImprovement, "GP-UCB": partial(kb.UCB, width=kb.Srinivas2010(0.1))}
PLAN = """from functools import partial
from pathlib import Path

import kbrepro as kb
import numpy as np
from kbrepro.trials.simulation import Planned, regrets_at

SIZE = 30


def experiments(seed):
    rules = {"EI": kb.ExpectedImprovement, "GP-UCB": partial(kb.UCB, width=kb.Srinivas2010(0.1))}
    draws = kb.Experiment(kb.GPDraw(kb.Matern(0.2, nu=2.5), kb.grid(SIZE), 0.01), rules, 40)
    here = Path("rewards.npy").is_file()
    rows = kb.Rows(np.eye(8), np.load("rewards.npy") if here else np.full((12, 8), np.nan), 0.1)
    return {
        "Table 1, d = 1": Planned(draws, 22, seed, first=3),
        "totals alone": Planned(partial(regrets_at, draws, [40]), 2, seed),
        "Fig. 4, minutes": Planned(kb.Experiment(rows, rules, 40, measured="a sum"), 12, seed),
    }
"""
CELLS = (
    "seed: int = 3\nresults_dir: str = ''",
    "raise RuntimeError('the plan is asked, no cell runs')",
)


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """A project of one notebook, and the store of its full scale."""
    root = make_project(
        tmp_path_factory.mktemp("filled"), "03_toy", notebook_of(*CELLS), "seed: 1\n"
    )
    write_paper(root, "03_toy", PLAN)
    np.save(root / "rewards.npy", np.random.default_rng(0).normal(size=(12, 8)))
    with pytest.MonkeyPatch.context() as patch, registered(root):
        patch.chdir(root)
        (r,) = profiles.plan(["03"], "paper", root)
        assert play.play_missing(r)
    return root


@pytest.fixture
def project(filled, tmp_path, monkeypatch):
    """A copy of that project, to work in."""
    root = tmp_path / "project"
    shutil.copytree(filled, root)
    monkeypatch.chdir(root)
    monkeypatch.setattr(sys, "path", [*sys.path])
    (root / "my_policy.py").write_text(
        re.search(r"```python\n(.*?)```", PAGE, flags=re.S)[1], encoding="utf-8"
    )
    with registered(root):
        yield root


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("label", [TABLE, DATA])
def test_our_policy_has_the_kept_regret_again(project, label, rule):
    found = beside.compare(RULES[rule], "03", label, trials=4)
    rival, again = found.traces[rule], found.traces["yours"].cumulative_regret
    at = rival.at if label == DATA else np.arange(1, 41)
    assert (rival.arms is None) == (label == DATA)
    # seven digits are kept
    np.testing.assert_allclose(again[:, at - 1], rival.cumulative_regret[:, at - 1], rtol=1e-6)
    assert abs(found.table.loc[rule, "difference"]) < 1e-5
    assert found.table.index.tolist() == ["yours", *RULES]


def test_the_table_is_of_the_first_trials_paired(project):
    kept = {name: its.cumulative_regret[:, -1] for name, its in kb.played("03", TABLE).items()}
    table = beside.compare(RULES["EI"], "03_toy", TABLE, trials=2).table
    apart = (kept["EI"] - kept["GP-UCB"])[:2]
    # t interval, one degree of freedom
    low = apart.mean() - 12.7062 * apart.std(ddof=1) / np.sqrt(2)
    assert table.loc["GP-UCB", ["difference", "low"]].tolist() == pytest.approx(
        [apart.mean(), low], rel=1e-4
    )
    assert table.loc["GP-UCB", "mean R_T"] == pytest.approx(kept["GP-UCB"][:2].mean())


def test_the_page_followed_to_its_end(project):
    """File and command, as a reader has them, in a project whose notebook 03 is a small one."""
    (command,) = re.findall(r"^kbrepro (beside \S+:.*)$", PAGE, flags=re.M)
    words = [word.strip('"') for word in re.findall(r'"[^"]*"|\S+', command)]
    assert "GP-UCB" in CliRunner().invoke(main, words).output
    folder = project / "results/custom/beside/03/Table_1,_d_=_1"
    assert sorted(path.name for path in folder.iterdir()) == ["Mine.csv", "Mine.png"]
    assert (folder / "Mine.png").stat().st_size > 10_000
    table = (folder / "Mine.csv").read_text(encoding="utf-8")
    assert table.startswith("policy,mean R_T,difference,low,high,")


@pytest.mark.parametrize(
    ("policy", "trials", "named"), [("x", 4, "policy"), (RULES["EI"], "4", "trials")]
)
def test_what_is_no_policy_or_number_is_refused_before_anything_is_read(policy, trials, named):
    with pytest.raises(ValueError, match=rf"^{named} = .* not allowed"):
        beside.compare(policy, "03", TABLE, trials=trials)


def call(*arguments):
    return CliRunner().invoke(main, ["beside", *arguments])


def error_of(*arguments):
    """The one line that `kbrepro beside` says where it fails."""
    result = call(*arguments)
    assert isinstance(result.exception, SystemExit) and "Traceback" not in result.output
    [line] = [line for line in result.output.splitlines() if line.startswith("Error: ")]
    return line


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--label", "totals alone"],
         "label = 'totals alone' is not allowed: label must be one of"),
        (["--notebook", "07"], "notebook = '07' is not allowed: notebook must be one of '03_toy'"),
        (["--label", DATA, "--trials", "2"],
         "cannot be played: its sensor data is missing (see data/README.md)"),
        (["--trials", "23"],
         "trials = 23 is not allowed: trials must be an integer from 2 to 22 (all stored)"),
        (["my_policy.py:Yours"], "my_policy.py has no class or function Yours"),
        (["none.py:Mine"],
         "= 'none.py:Mine' is not allowed: policy must be FILE.py:NAME of an existing file"),
        (["my_policy.py"], "policy must be FILE.py:NAME"),
    ],
)  # fmt: skip
def test_mistakes_are_one_line(project, arguments, message):
    (project / "rewards.npy").unlink()
    policy = [] if arguments[0].endswith((".py", "Mine", "Yours")) else ["my_policy.py:Mine"]
    assert message in error_of("--notebook", "03", "--label", TABLE, *policy, *arguments)


FAILING = """import kbrepro as kb

class Mine(kb.Policy):
    def index(self):
        if self.t < 4:
            return self.posterior.mean
        return self.posterior.mean / [0.0][self.t]  # line 7

def nothing(model, horizon, rng):
    return 3
"""
INDEX = "IndexError: list index out of range"


@pytest.mark.parametrize(
    ("text", "name", "jobs", "message"),
    [
        ("import kbrepro\nimport nowhere_at_all\n", "Mine", "1",
         ", line 2: ModuleNotFoundError: No module named"),
        ("import kbrepro\n\nclass Mine(kb.Policy)\n    pass\n", "Mine", "1",
         ", line 3: SyntaxError: expected ':'"),
        (FAILING, "Mine", "1", f", line 7: {INDEX}"),
        (FAILING, "Mine", "2", f", line 7: {INDEX}"),
        (FAILING, "nothing", "1", ": ValueError: policy = 3 is not allowed"),
    ],
)  # fmt: skip
def test_a_file_or_a_policy_that_fails_is_one_line_with_its_number(
    project, monkeypatch, text, name, jobs, message
):
    """From workers, too."""
    monkeypatch.setenv("KBREPRO_JOBS", jobs)
    (project / "failing.py").write_text(text, encoding="utf-8")
    arguments = ("--notebook", "03", "--label", TABLE, "--trials", "2")
    line = error_of(f"failing.py:{name}", *arguments)
    assert line.startswith(f"Error: failing.py{message}")


def test_where_nothing_can_be_written_nothing_is_played(project, monkeypatch):
    (project / "results/custom").touch()
    monkeypatch.setattr(beside, "compare", lambda *arguments: pytest.fail("it was played"))
    arguments = ("my_policy.py:Mine", "--notebook", "03", "--label", TABLE)
    assert "results/custom" in error_of(*arguments)


def test_of_a_wrong_label_the_nearest_are_listed_without_one_all(project):
    first = "Error: label = {} is not allowed: label must be one of"
    lines = call("my_policy.py:Mine", "--notebook", "03").output.splitlines()
    assert lines == [first.format("''"), "  Fig. 4, minutes", "  Table 1, d = 1"]
    arguments = ("my_policy.py:Mine", "--notebook", "03", "--label", "Table 1, d = 7")
    lines = call(*arguments).output.splitlines()
    assert lines == [first.format("'Table 1, d = 7'"), "  Table 1, d = 1"]
