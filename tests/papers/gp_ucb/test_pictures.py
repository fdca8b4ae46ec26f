"""The figures of the notebook on GP-UCB: each can be read and fits."""

import numpy as np
import pandas as pd
import pytest
from traces import trace_of

from kbrepro.figures import KERNEL_LOOK
from kbrepro.papers.gp_ucb import pictures

pytestmark = pytest.mark.usefixtures("styled")
LEVELS = np.linspace(0.5, 1.5, 24)[:, None] * np.arange(1.0, 101) ** -0.4
TRACES = {rule: trace_of((1 + i) * LEVELS) for i, rule in enumerate(pictures.RULES)}
DECAYS = dict(zip(KERNEL_LOOK, (1, 0.8, 0.5, 0.1), strict=True))
FALLING = {name: 30.0 * base ** np.arange(20) for name, base in DECAYS.items()}
GROWING = {name: (1 + 9 * base) * np.log1p(np.arange(1, 60)) for name, base in DECAYS.items()}
FRAME = pd.DataFrame(
    {"round": np.repeat([1, 2], 9), "x": np.tile(np.linspace(0, 1, 9), 2), "mean": 0.5, "half": 0.3}
)
FRAME = FRAME.assign(f=FRAME["x"], pulled=np.repeat([0.0, 1.0], 9), observed=0.9)
FIGURES = {
    "strip": lambda: pictures.strip(FRAME, (1, 2)),
    "one panel": lambda: pictures.regrets("Fig. 5a", {"": TRACES}),
    "three panels": lambda: pictures.regrets(
        "Fig. 5b", dict.fromkeys("abc", TRACES), unit="°C", block=4
    ),
    "information": lambda: pictures.information(FALLING, GROWING, GROWING),
}


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_can_be_read(name, checked):
    checked(FIGURES[name]())
