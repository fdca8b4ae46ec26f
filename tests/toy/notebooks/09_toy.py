# ---
# jupyter:
#   jupytext:
#     formats: ipynb,py:percent
#     notebook_metadata_filter: language_info
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
#   language_info:
#     name: python
# ---

# %% [markdown]
# # Both layers of a toy
#
# A. Nobody: *Both*, 2026. What came out of [its sentences](../docs/claims.md).

# %% tags=["parameters"]
seed: int = 1  # root seed of every random stream
trials: int = 12  # hills (paper: 10)
horizon: int = 30  # rounds T
results_dir: str = ""  # folder for figures and tables, relative to the project's root; empty: write nothing

# %% tags=["hide-input"]
from functools import partial

import matplotlib.pyplot as plt
import pandas as pd
from kbrepro.papers.toy.policy import Both, Hills

# %% tags=["hide-input"]
from kbrepro import checks, figures
from kbrepro.record import Record
from kbrepro.simulation import Experiment, run_trials

# %% tags=["checks", "hide-input"]
checks.at_least(2, trials=trials, horizon=horizon)

# %% tags=["hide-input"]
record = Record("09_toy", results_dir)

# %% [markdown]
# ## Two layers (Fig. 1)

# %% tags=["experiment"]
rules = {"Both": partial(Both, width=2.0), "Both, cautious": partial(Both, width=5.0)}
traces = run_trials(Experiment(Hills(30), rules, horizon), trials, seed, label="Fig. 1")
totals = pd.DataFrame({name: its.regret.sum(axis=1) for name, its in traces.items()}).rename_axis("trial")
record.table(totals, "fig1")

# %% tags=["hide-input"]
fig, ax = plt.subplots(figsize=(figures.WIDTH / 2, 2.6))
figures.regret_quartiles(ax, traces, hero="Both")
record.figure(fig, "fig1")
plt.show()

# %% tags=["hide-input"]
record.say(totals["Both"].mean() < totals["Both, cautious"].mean(), "Both has less regret than its sister.")
record.verdicts("9-A", "9-B", "9-T")
record.readings("9-A")

# %% tags=["hide-input"]
record.finish()
