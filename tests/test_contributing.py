"""The worked examples of CONTRIBUTING.md run, one after the other; its order of the rooms is the
tested one.
"""

import re
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def test_a_policy_a_problem_and_a_figure_can_be_added_as_it_says(monkeypatch):
    monkeypatch.setenv("KBREPRO_JOBS", "1")
    scope = {"__name__": "example"}
    codes = re.findall(r"```python\n(.*?)```", TEXT, flags=re.S)
    assert len(codes) == 3
    for code in codes:
        exec(code, scope)
    assert {name: trace.arms.shape for name, trace in scope["traces"].items()} == {
        "EI": (10, 60),
        "epsilon": (10, 60),
    }
    assert set(np.unique(scope["Steps"](2.0)(scope["kb"].Trial(1, 0)).expected_reward)) == {
        0.0,
        2.0,
    }
    assert scope["ax"].get_xlabel() and scope["ax"].lines
    plt.close("all")
