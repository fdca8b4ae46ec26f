"""The worked examples of CONTRIBUTING.md run, one after the other."""

import matplotlib.pyplot as plt
import numpy as np
from pages import blocks, page, run


def test_a_policy_a_problem_and_a_figure_can_be_added_as_it_says():
    codes = blocks(page("CONTRIBUTING.md"), "python")
    assert len(codes) == 3
    scope = run(codes)
    shapes = {name: trace.arms.shape for name, trace in scope["traces"].items()}
    assert shapes == dict.fromkeys(("EI", "epsilon"), (10, 60))
    reward = scope["Steps"](2.0)(scope["kb"].Trial(1, 0)).expected_reward
    assert set(np.unique(reward)) == {0.0, 2.0}
    assert scope["ax"].get_xlabel() and scope["ax"].lines
    plt.close("all")
