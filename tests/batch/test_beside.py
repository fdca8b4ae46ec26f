"""Our policies, played as a reader's, have the committed regret again; what people see of their own and of mistakes."""

import json
import os
import re
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import kbrepro as kb
from kbrepro.__main__ import main
from kbrepro.batch import beside, provenance
from kbrepro.data import intel_lab, store
from kbrepro.papers.igp_ucb.named import MOTES
from kbrepro.papers.pi_gp_ucb.many_arms import LazyUCB

ROOT = Path(__file__).parents[2]
OUTDATED = provenance.outdated(ROOT)
PAGE = (ROOT / "docs" / "beside.md").read_text(encoding="utf-8")
pytestmark = pytest.mark.skipif(not (ROOT / "results" / "paper").is_dir(), reason="there is no results folder")

EI, PLAIN = partial(kb.ExpectedImprovement, random_opening=True), kb.ExpectedImprovement
JANZ = partial(LazyUCB, width=kb.Improved(0.1))
#: Experiment -> rival, our policy of that name, rounds that are played: none of these depends on the horizon.
AGAIN = {
    "fig5a": ("GP-UCB", partial(kb.UCB, width=kb.Bayes(0.1)), 30),
    **{f"fig{n}_{panel}": ("EI", EI, 60) for n in (1, 2, 3) for panel in "ab"},
    **{f"table1_d{d}{variant}": ("IGP-UCB", JANZ, 100) for d in (1, 2) for variant in ("", "_eq2")},
    "regret": ("exact", partial(kb.UCB, width=kb.SelfNormalised(0.1)), 60),
}
ON_SENSORS = {f"fig5b_{third}_third": ("EI", PLAIN, 46) for third in ("first", "second", "last")}
ON_SENSORS |= {"fig4_temperature": ("EI", EI, 46), "fig4_light": ("EI", EI, 46)}


@pytest.fixture(autouse=True)
def one_worker_in_the_checkout(monkeypatch):
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("KBREPRO_JOBS", "1")
    monkeypatch.delenv("KBREPRO_CACHE", raising=False)


def assert_committed_again(name, rival, policy, horizon):
    its = beside.named(name)
    if its.notebook in OUTDATED:
        pytest.skip(f"{its.notebook} was {OUTDATED[its.notebook]}")
    rounds = its.rounds[its.rounds <= horizon]
    played = kb.run_trials(kb.Experiment(its.source, {"again": policy}, horizon), 2, its.seed)["again"]
    committed = its.regrets[rival][:2, : len(rounds)]
    assert committed[:, -1].min() > 0 and len(rounds) > 10
    np.testing.assert_allclose(played.cumulative_regret[:, rounds - 1], committed, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", AGAIN)
def test_our_policy_has_the_committed_regret_again(name):
    assert_committed_again(name, *AGAIN[name])


@pytest.mark.parametrize("name", ON_SENSORS)
def test_our_policy_has_the_committed_regret_again_on_sensors(name):
    data = "light" if name == "fig4_light" else "temperature"
    if not store.load(data).is_real:
        pytest.skip(f"no {data} data")
    assert_committed_again(name, *ON_SENSORS[name])


def test_every_experiment_is_met_again_and_the_motes_are_those_that_report():
    assert {**AGAIN, **ON_SENSORS}.keys() == beside.ROOMS.keys()
    assert MOTES == intel_lab.REPORTING


@pytest.fixture(scope="module")
def compared():
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        patch.setenv("KBREPRO_JOBS", "1")
        return beside.play(JANZ, "table1_d1", trials=2)


def test_to_the_last_round_ours_is_its_own_rival(compared):
    kept = beside.named("table1_d1")
    table = compared.table
    final = {rival: curves[:2, -1].astype(float) for rival, curves in kept.regrets.items()}
    assert table.index.tolist() == ["yours", "IGP-UCB", "π-GP-UCB"]
    assert table.loc["IGP-UCB", "difference"] == pytest.approx(0, abs=1e-3)
    apart = final["IGP-UCB"] - final["π-GP-UCB"]
    low = apart.mean() - 12.7062 * apart.std(ddof=1) / np.sqrt(2)  # t interval, one degree of freedom
    assert table.loc["π-GP-UCB", ["difference", "low"]].tolist() == pytest.approx([apart.mean(), low], rel=1e-4)
    assert table["mean R_T"].tolist() == pytest.approx([final["IGP-UCB"].mean()] * 2 + [final["π-GP-UCB"].mean()])


def test_a_rivals_trace_is_right_at_the_rounds_kept(compared):
    kept = beside.named("table1_d1")
    for rival, curves in kept.regrets.items():
        np.testing.assert_allclose(compared.traces[rival].cumulative_regret[:, kept.rounds - 1], curves[:2], rtol=1e-6)


def test_the_panel_can_be_read_and_yours_is_on_top(compared, checked):
    assert checked(compared.figure).startswith("table1_d1, final regret of yours: lower than ")
    lines = {line.get_label(): line for line in compared.figure.axes[0].lines}
    assert max(lines, key=lambda name: lines[name].get_zorder()) == "yours"
    assert lines["yours"].get_linewidth() > lines["IGP-UCB"].get_linewidth()


@pytest.mark.parametrize(("apart", "word"), [(-1.0, "lower"), (1.0, "higher"), (0.0, "open")])
def test_words_and_blocks_of_differences(apart, word):
    """Forty neighbours in two pairs of blocks of ten: the interval is that of four means."""
    regret = apart + np.repeat([0.1, -0.1, 0.1, -0.1], 10) + np.tile([0.4, -0.4], 20)
    traces = {
        name: beside._trace(np.array([1]), its[:, None])
        for name, its in {"yours": 5 + regret, "it": regret * 0 + 5}.items()
    }
    its = beside.Named("", None, 1, 1, 40, 10, np.array([1]), {"it": None})
    row = beside._differences(traces, its).loc["it"]
    assert row["yours is"] == word
    half = 3.18245 * 0.2 / np.sqrt(3) / 2
    assert row["high"] - row["low"] == pytest.approx(2 * half, rel=1e-4)


def test_the_page_followed_to_its_end(tmp_path):
    """File, command (two trials instead of twenty) and script, as a reader has them."""
    mine, script = re.findall(r"```python\n(.*?)```", PAGE, flags=re.S)
    (command,) = re.findall(r"^kbrepro (beside \S+:.*)$", PAGE, flags=re.M)
    checkout = tmp_path / "checkout"
    for folder in ("kbrepro", "results"):
        (checkout / folder).mkdir(parents=True)
    for folder in ("notebooks", "results/paper"):
        (checkout / folder).symlink_to(ROOT / folder)
    (checkout / "my_policy.py").write_text(mine, encoding="utf-8")
    (checkout / "script.py").write_text(script.replace("trials=20", "trials=2"), encoding="utf-8")
    environment = os.environ | {"PYTHONPATH": str(ROOT), "KBREPRO_JOBS": "2"}
    words = command.replace("--trials 20", "--trials 2").split()
    for arguments in (["-m", "kbrepro", *words], ["script.py"]):
        done = subprocess.run(
            [sys.executable, *arguments], cwd=checkout, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        assert "π-GP-UCB" in done.stdout and "Warning" not in done.stderr
    folder = checkout / "results" / "custom" / "beside" / "table1_d1"
    assert sorted(path.name for path in folder.iterdir()) == ["Mine.csv", "Mine.png"]
    assert (folder / "Mine.png").stat().st_size > 10_000 and (checkout / "beside.png").is_file()
    assert (folder / "Mine.csv").read_text(encoding="utf-8").startswith("policy,mean R_T,difference,low,high,")


def call(*arguments):
    return CliRunner().invoke(main, ["beside", *arguments])


def test_the_list_names_every_experiment(monkeypatch, tmp_path):
    monkeypatch.setenv("KBREPRO_DATA", str(tmp_path))
    lines = call("--list").output.splitlines()
    assert [line.split()[0] for line in lines[1:]] == list(beside.ROOMS)
    run = json.loads((ROOT / "results/paper/02_igp_ucb_gp_ts_sensors/run.json").read_text(encoding="utf-8"))[
        "parameters"
    ]
    [row] = [line.split() for line in lines if line.startswith("fig4_light")]
    assert row[1:] == ["02_igp_ucb_gp_ts_sensors", str(run["sensor_horizon"]), str(run["rows"]), "41", "light"]
    [row] = [line.split() for line in lines if line.startswith("fig3_b")]
    assert row[1:] == ["02_igp_ucb_gp_ts_sensors", str(run["horizon"]), str(run["trials"]), "300"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["{}:Mine", "--experiment", "fig9"], "experiment = 'fig9' is not allowed: experiment must be one of 'fig5a'"),
        (["{}:Mine", "--experiment", "fig5b_last_third"], "temperature data is missing: see data/README.md, or set KB"),
        (["{}:Mine", "--experiment", "table1_d1", "--trials", "101"], "must be an integer from 2 to 100"),
        (["{}:Yours", "--experiment", "table1_d1"], "no class or function Yours there; allowed: Mine"),
        (["none.py:Mine", "--experiment", "table1_d1"], "there is no file none.py"),
        (["no_such_module:Mine", "--experiment", "table1_d1"], "there is no module no_such_module"),
        (["{}", "--experiment", "table1_d1"], "it must be file.py:Name or module:Name"),
        (["{}:Mine"], "--experiment are needed"),
    ],
)  # fmt: skip
def test_mistakes_are_one_line(tmp_path, monkeypatch, arguments, message):
    monkeypatch.setenv("KBREPRO_DATA", str(tmp_path))
    monkeypatch.setattr(sys, "path", [*sys.path])
    file = tmp_path / f"policy_{len(sys.modules)}.py"
    file.write_text("class Mine:\n    pass\n", encoding="utf-8")
    result = call(*(word.format(file) for word in arguments))
    [line] = [line for line in result.output.splitlines() if line.startswith("Error: ")]
    assert message in line and isinstance(result.exception, SystemExit)


def test_other_mistakes_name_what_is_allowed(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "json.py").write_text("class Mine: ...\n", encoding="utf-8")
    with pytest.raises(ValueError, match="another module is called json"):
        beside.policy_of(f"{tmp_path / 'json.py'}:Mine")
    (tmp_path / "imports_what_is_not_there.py").write_text("import no_such_thing\n", encoding="utf-8")
    with pytest.raises(ModuleNotFoundError, match="no_such_thing"):
        beside.policy_of(f"{tmp_path / 'imports_what_is_not_there.py'}:Mine")
    for folder in ("notebooks", "kbrepro"):
        (tmp_path / folder).mkdir()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"no table1_d1\.npz in results/paper/03_pi_gp_ucb_scaling/regret"):
        beside.named("table1_d1")


def test_a_run_of_other_code_is_told(monkeypatch):
    monkeypatch.setattr(provenance, "outdated", lambda root: {"03_pi_gp_ucb_scaling": "made by other source"})
    with pytest.warns(UserWarning, match="03_pi_gp_ucb_scaling was made by other source"):
        beside.play(JANZ, "table1_d1", trials=2)
