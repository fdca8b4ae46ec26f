# ---
# jupyter:
#   jupytext:
#     formats: ipynb,py:percent
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
# A. Nobody: *Both*, 2026.

# %%
from functools import partial

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from kbrepro.papers.toy.policy import Both, Hills

# %%
from kbrepro import checks, figures
from kbrepro.data import store
from kbrepro.policies import ExpectedImprovement
from kbrepro.problems import Rows
from kbrepro.regret import bootstrap, estimated_mean, final_average_regret
from kbrepro.simulation import Experiment, run_trials
from kbrepro.verdicts.interpretations import cross
from kbrepro.verdicts.record import Record

# %% tags=["parameters"]
seed: int = 1  # root seed of every random stream
trials: int = 10  # hills (full scale: 40)
horizon: int = 20  # rounds T (full scale: 40)
results_dir: str = ""  # folder for figures and tables, relative to the project's root; empty: write nothing

# %% tags=["checks"]
checks.at_least(2, trials=trials, horizon=horizon)

# %%
lab = store.load("temperature")
record = Record("09_toy", results_dir, has={"data": ["temperature"] if lab.is_real else []})
record.banner()

# %% [markdown]
# ## At a glance

# %% tags=["at-a-glance", "full-scale", "nbval-ignore-output"]
record.at_a_glance()

# %% [markdown]
# ## Two layers (Fig. 1)


# %% tags=["experiment"]
def played(width):
    """The traces of Both with a width."""
    rules = {"Both": partial(Both, width=width)}
    return run_trials(Experiment(Hills(30), rules, horizon), trials, seed, label=f"Fig. 1, width {width:g}")


under = {case["width"]: played(case["width"]) for case in cross(record.rules.interpretations)}
traces = {"Both": under[2.0]["Both"], "Both, cautious": under[5.0]["Both"]}
record.traces(traces, "fig1")
arms = pd.Series(traces["Both"].arms.ravel(), name="arm").value_counts().rename("pulls")
record.table(arms.to_frame(), "pulls")
of_width = {width: estimated_mean(final_average_regret(its)["Both"], seed) for width, its in under.items()}
record.judge("9-A", regret=of_width[2.0])
curve = record.play("9-A", [({"width": width}, its) for width, its in of_width.items()])
print([round(its.value, 2) for its in of_width.values()], len(curve), trials)

# %%
fig, ax = plt.subplots(figsize=(figures.WIDTH / 2, 2.6))
figures.regret_quartiles(ax, traces, hero="Both")
figures.label_ends(ax)
record.figure(fig, "headline_fig1")
plt.show()

# %% tags=["full-scale", "nbval-ignore-output"]
record.show("9-A")

# %% [markdown]
# ## Measured data (Fig. 2)

# %% tags=["experiment"]
train, test = store.train_test(lab)
fields = Rows(np.cov(train, rowvar=False), (test - train.mean(axis=0))[:: len(test) // 8], 0.5)
rules = {"EI": partial(ExpectedImprovement, incumbent="noisy_reward")}
experiment = Experiment(fields, rules, len(lab.sensors), measured=lab.checksum)
regret = run_trials(experiment, 8, seed, label="Fig. 2")["EI"]
chance = (fields.rewards.max(axis=1) - fields.rewards.mean(axis=1))[:8] * len(lab.sensors)


def ratio(its, others):
    """Mean over mean."""
    return its.mean(axis=-1) / others.mean(axis=-1)


its = bootstrap(ratio, regret.cumulative_regret[:, -1], chance, rng=np.random.default_rng(seed))
record.judge("9-B", share=its)
print(len(chance), len(lab.sensors), len(rules))

# %% tags=["full-scale", "nbval-ignore-output"]
record.show()
record.finish()
