"""A run that is stepped through: a picture for every round that the run kept, without network, still without script."""

import base64
import io
import re

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from kbrepro.batch import step_through

X = np.linspace(0, 1, 5)


def gp_ucb(t):
    return pd.DataFrame({"round": t, "x": X, "f": X, "mean": X / t, "half": 1 / t, "pulled": X[t], "observed": 0.1 * t})


def starvation(t):
    parts = [
        {"t": t, "name": name, "x": X, "f": X, "mean": X / t, "sd": 1 / t, "member": 0} for name in ("exact", "BKB")
    ]
    return pd.concat(map(pd.DataFrame, parts))


def cells(t):
    return pd.DataFrame({"round": t, "x": [0, 1 / 2], "y": 0.0, "side": 1 / 2, "pulls": [t, 2 * t]})


FRAMES = {
    "01_gp_ucb_information_gain": ("frames_gp_ucb", gp_ucb),
    "03_pi_gp_ucb_scaling": ("frames_cells", cells),
    "04_bkb_variance_starvation": ("frames_starvation", starvation),
}


@pytest.mark.parametrize("notebook", FRAMES)
def test_every_round_that_was_kept_is_a_frame_of_its_own(tmp_path, notebook):
    name, make = FRAMES[notebook]
    (tmp_path / notebook / "tables").mkdir(parents=True)
    pd.concat(map(make, (1, 2, 3))).to_csv(tmp_path / notebook / "tables" / f"{name}.csv", index=False)
    found = step_through.of(tmp_path / notebook)
    frames = [base64.b64decode(f.replace("\\\n", "")) for f in re.findall(r'base64,([^"]*)"', found.html)]
    assert len(frames) == len(set(frames)) == 3
    assert all(min(Image.open(io.BytesIO(frame)).size) > 300 for frame in frames)
    assert not re.findall(r"https?://(?!www\.w3\.org)", found.html)
    assert re.search(
        rf'<noscript>.*<img src="{notebook}/figures/{found.still}\.svg" alt="[^"]+">.*</noscript>', found.html
    )


def test_every_paper_with_frames_has_a_step_through():
    assert set(step_through.ROOMS) == set(FRAMES)


def test_a_run_without_frames_has_none(tmp_path):
    assert step_through.of(tmp_path / "02_igp_ucb_gp_ts_sensors") is None
    assert step_through.of(tmp_path / "01_gp_ucb_information_gain") is None
