"""A batch survives kills at any moment.

After each: nothing half-written stands under a final name, no process is left, and a rerun makes
the same numbers.
"""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import psutil
import pytest
from fake_project import LAUNCHER, NAME, contents, make_project, notebook_of, write_paper

pytestmark = pytest.mark.slow
TRIALS = 16
PARAMETERS = """\
trials: int = 16  # of about a fifth of a second
results_dir: str = ""  # where to write"""
JOB = """
import os
import time
from pathlib import Path

SCALE = 1.0
PLAYED = Path(os.environ["PLAYED"])  # told apart by the test


def job(trial):
    mark = PLAYED / f"{trial.number} {os.getpid()}"
    mark.touch()
    rng, stop = trial.rng("function"), time.monotonic() + 0.2
    value = SCALE * rng.standard_normal(1000).sum()
    while time.monotonic() < stop:
        pass
    mark.rename(mark.with_suffix(".done"))
    return value
"""
PLAN = """from kbrepro.trials.simulation import Planned
import trial_job


def experiments(trials):
    return {"values": Planned(trial_job.job, trials, 7)}
"""
WORK = f"""\
import kbrepro as kb
from kbrepro import paths
values = kb.played("{NAME}", "values", "quick")
folder = paths.project_root() / results_dir
paths.write_text(folder / "tables/values.csv", "\\n".join(value.hex() for value in values))"""
#: What hits the batch; the kernel and workers are killed.
SIGNALS = {"batch": signal.SIGKILL, "Ctrl-C": signal.SIGINT, "SIGTERM": signal.SIGTERM}


def project(folder):
    """A project whose batch plays trials for about two seconds in two workers, and whose notebook
    shows them.
    """
    folder.mkdir()
    make_project(folder, notebook=notebook_of(PARAMETERS, WORK), quick="{}\n")
    write_paper(folder, NAME, PLAN)
    (folder / "trial_job.py").write_text(JOB, encoding="utf-8")
    (folder / "no_data").mkdir()
    (folder / "played").mkdir()
    return folder


@pytest.fixture
def root(tmp_path):
    return project(tmp_path / "project")


def start(root, command="reproduce"):
    """A batch as a user starts it."""
    own = {
        "KBREPRO_DATA": str(root / "no_data"),
        "PLAYED": str(root / "played"),
        "TQDM_DISABLE": "1",
        "KBREPRO_JOBS": "2",
    }
    path = root / f"said {len([*root.glob('said*')])}"
    with path.open("w") as output:  # no pipe: workers that are left would hold it open
        process = subprocess.Popen(
            [sys.executable, "-c", LAUNCHER, command, "01", "--profile", "quick"],
            cwd=root,
            env=os.environ | own,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    process.path = path
    return process


def finish(process):
    return process.wait(timeout=120), process.path.read_text()


def succeed(root):
    """Run a whole batch; return its numbers."""
    code, output = finish(start(root))
    assert code == 0, output
    return (results(root) / "tables/values.csv").read_text()


def results(root):
    return root / "results/quick" / NAME


def ours(root, word=""):
    """Processes that work on the project (batch, papermill, kernel, workers) with a word in their
    command.
    """
    found = []
    for process in psutil.process_iter(["environ", "cmdline"]):  # of a zombie both are empty
        environment, command = process.info["environ"] or {}, process.info["cmdline"] or []
        if environment.get("PLAYED") == str(root / "played") and word in " ".join(command):
            found.append(process)
    return found


def nobody_is_left(root):
    """The kernel of a batch that was killed ends itself, then its workers do, and then what clears
    up after these.
    """
    # two seconds on an idle machine; where others compute a process that ends waits for its turn
    deadline = time.monotonic() + 60
    while (left := ours(root)) and time.monotonic() < deadline:
        time.sleep(0.1)
    for process in left:
        process.kill()
    return not left


def shared_memory(processes):
    """What these processes hold in shared memory, or left there; joblib names it by the number of a
    process.
    """
    numbers = {str(process.pid) for process in processes}
    names = [path.name for path in Path("/dev/shm").glob("*")]
    return [name for name in names if numbers & {*re.findall(r"\d+", name)}]


def shown(root):
    """What a run left, besides what was played."""
    files = contents(results(root))
    return {name: files[name] for name in files if not name.startswith("played/")}


def nothing_is_half_written(root):
    """A final name holds all that a run leaves, to its end."""
    files = shown(root)
    names = {"SHA256SUMS", "notebook.ipynb", "run.json", "tables/values.csv"}
    return {*files} == names and len(files["tables/values.csv"].split()) == TRIALS


def kept(root):
    """The trials that are kept: of a label cut short, else all."""
    folder = results(root) / "played"
    return TRIALS if list(folder.glob("*.npz")) else len(list(folder.glob("*.part/*.npz")))


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The numbers, and the seconds from start to end, of a batch that nothing happens to."""
    begun = time.monotonic()
    numbers = succeed(project(tmp_path_factory.mktemp("whole") / "project"))
    assert len(numbers.split()) == TRIALS
    return numbers, time.monotonic() - begun


def victim(root, batch, who):
    """The process to hit; None while it is not there."""
    if who in SIGNALS:
        return psutil.Process(batch.pid)
    word = {"kernel": "ipykernel_launcher", "worker": "popen_loky_posix"}[who]
    return next(iter(ours(root, word)), None)


def played(root):
    return len(list((root / "played").glob("*.done")))


#: When a kill comes, and whom it hits: after the last trial workers have nothing to do, and there
#: is a kernel.
KILLS = [("trials", who) for who in ("batch", "Ctrl-C", "worker", "SIGTERM")]
KILLS += [("notebook", who) for who in ("batch", "kernel", "Ctrl-C", "SIGTERM")]
KILLS += [("start", "batch")] * 2


@pytest.mark.parametrize("seed", range(len(KILLS)))
def test_a_kill_at_a_random_moment(root, whole, seed):
    """Of a run or, the first two, of `kbrepro play`: a run goes on where either stopped."""
    expected, seconds = whole
    rng, (when, who) = np.random.default_rng(seed), KILLS[seed]
    batch = start(root, "play" if seed < 2 else "reproduce")
    done = {"start": 0, "trials": int(rng.integers(1, TRIALS - 8)), "notebook": TRIALS}[when]
    while (hit := victim(root, batch, who)) is None or played(root) < done:
        assert batch.poll() is None, finish(batch)
        time.sleep(0.02)
    time.sleep({"start": 0.3 * seconds, "trials": 0.0, "notebook": 0.5}[when] * rng.random())
    there = ours(root)
    hit.send_signal(SIGNALS.get(who, signal.SIGKILL))
    code, output = finish(batch)
    assert code != 0 and ("Aborted!" in output) == (who in ("Ctrl-C", "SIGTERM")), output
    assert nobody_is_left(root) and not shared_memory(there)
    assert not shown(root)
    there, before = kept(root), played(root)
    assert (there == TRIALS) == (when == "notebook")
    assert succeed(root) == expected and nothing_is_half_written(root)
    assert played(root) == before + TRIALS - there  # what was kept is not played again, all else is
    assert [p.name for p in results(root).parent.iterdir()] == [NAME]
