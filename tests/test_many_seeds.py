"""The loop of docs/using.md, at toy size, from another directory of a machine without data."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from pages import ROOT, blocks, page

import kbrepro as kb

SMALL = {"chains": 4, "samples": 20}


@pytest.mark.slow
def test_the_loop_keeps_every_run_and_one_table_has_them_all(tmp_path):
    (loop,) = blocks(page("docs/using.md"), "sh")
    out = tmp_path / "out"
    small = " ".join(f"-p {name} {value}" for name, value in SMALL.items())
    for before, now in (
        ("1 2 3", "1 2"),
        ("50 100", "50"),
        ("mkdir -p out", f"mkdir -p {out}"),
        ("notebooks/", f"{ROOT}/notebooks/"),
        (" out/05_$0_$1.ipynb", f" {out}/05_$0_$1.ipynb"),
        ("results_dir out/", f"results_dir {out}/"),
        ("-p seed $0", f"{small} -p seed $0"),
    ):
        assert before in loop
        loop = loop.replace(before, now)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = os.environ | {"PATH": path, "KBREPRO_DATA": str(tmp_path), "TQDM_DISABLE": "1"}
    done = subprocess.run(
        ["sh", "-c", loop],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    table = kb.frame(out)
    assert {*table["run"]} == {"05_1_50", "05_2_50"}
    assert (out / "05_1_50" / "figures" / "fig9_chains.png").is_file()
    draws = table[(table["label"] == "obvious") & (table["round"] == 50)]
    assert {*draws["rule"]} >= {"GPN-UCB", "cUCB", "OI", "GP-UCB", "EI"}
    one, two = (draws[draws["run"] == run]["R_t"].to_numpy() for run in ("05_1_50", "05_2_50"))
    assert len(one) == len(two) and (one != two).any()
