"""What the machine allows, measured in the same run, and the share of it that our updates and runs reach.

Memory bandwidth: y += s x on vectors far larger than any cache (`daxpy`), 24 bytes an entry. Product rate: a square
matrix product. Both are the best of several, as usual for limits; shares are of the median of a job. Bytes are those
that a job cannot do without: the triangle of a covariance read and written, the rows so far read once.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter
from scipy.linalg.blas import daxpy, dger, dsyr

from benchmarks import many_arms
from benchmarks.harness import Aim, Question, again, row, timed
from benchmarks.peers import policy_on
from kbrepro import figures
from kbrepro.kernels import SquaredExponential, grid
from kbrepro.papers.pi_gp_ucb.many_arms import BLOCK, BlockPosterior
from kbrepro.posterior import CovariancePosterior, ExactPosterior, RowPosterior
from kbrepro.problems import Model

#: Share of the bandwidth that a covariance update is to reach from so many arms on.
SHARE, FROM_ARMS = 0.6, 2500
#: Seconds that a step of UCB on 100 arms may take beyond one `dger` in place.
BEYOND_DGER = 30e-6


def measure(
    entries: int,
    square: int,
    covariances: tuple[int, ...],
    rows: tuple[tuple[int, int], ...],
    flushes: tuple[int, int, tuple[int, ...]],
    step_rounds: int,
    many: tuple[int, int],
    repeats: int,
) -> pd.DataFrame:
    """Return one row a job, with its shares of both limits.

    Sizes: entries of a vector, side of a square matrix, arms of covariances, (arms, pulls before) of rows; side
    (d = 3), pulls before and block lengths of flushes; rounds on 100 arms; side and rounds of `many_arms`.
    """
    found = [*_machine(entries, square, repeats), *_covariance_updates(covariances)]
    found += [_row_update(*size) for size in rows] + _flushes(*flushes) + _step(100, step_rounds)
    found += many_arms.two_dimensions(*many, repeats) + many_arms.three_dimensions(*many)
    columns = ["job", "arms", "t", "pulls", "min_s", "median_s", "max_s", "bytes", "flop", "same_arms"]
    table = pd.DataFrame(found, columns=[*columns, "repeats", "note"])
    for work, share, limit in (("bytes", "of_bandwidth", "bandwidth"), ("flop", "of_products", "products")):
        best = table[table["job"] == limit].iloc[0]
        table[share] = table[work] / table["median_s"] / (best[work] / best["min_s"])
    return table


def _machine(entries: int, square: int, repeats: int) -> list[dict[str, Any]]:
    x, y = np.full(entries, 0.5), np.full(entries, 0.25)
    memory = timed(lambda: again(partial(daxpy, x, y, a=0.5), repeats + 1), 1).steps[0][1:]
    a = np.random.default_rng(1).standard_normal((square, square))
    products = timed(lambda: again(lambda: a @ a[::-1], repeats), 1).steps[0]
    return [
        row("bandwidth", memory, f"y += s x, {entries} entries", bytes=24 * entries),
        row("products", products, f"square matrices, {square} rows", flop=2 * square**3),
    ]


def _told(n_arms: int) -> Model:
    return Model(grid(n_arms), SquaredExponential(0.2), 0.025)


def _updates(posterior: ExactPosterior, pulls: int) -> Iterator[None]:
    """Pull random arms, one a step."""
    arms = np.random.default_rng(4).integers(posterior.n_arms, size=pulls)
    return (posterior.update(int(arm), 0.5) for arm in arms)


def _covariance_updates(sizes: tuple[int, ...]) -> list[dict[str, Any]]:
    """Rows of the whole update, and of the `dsyr` in it."""
    found = []
    for n_arms in sizes:
        told, size = _told(n_arms), {"arms": n_arms, "bytes": 8 * n_arms * (n_arms + 1)}
        posterior = CovariancePosterior(told.kernel, told.points, told.noise_variance)
        found.append(row("covariance update", timed(lambda p=posterior: _updates(p, 30), 1).steps[0], **size))
        matrix, vector = np.asfortranarray(np.eye(n_arms)), np.full(n_arms, 1e-9)
        call = partial(dsyr, -1.0, vector, a=matrix, overwrite_a=1)
        found.append(row("dsyr alone", timed(lambda call=call: again(call, 30), 1).steps[0], **size))
    return found


def _row_update(n_arms: int, before: int) -> dict[str, Any]:
    """Row of an update by one row after so many pulls."""
    told = _told(n_arms)
    posterior = RowPosterior(told.kernel, told.points, told.noise_variance)
    list(_updates(posterior, before))
    seconds = timed(lambda: _updates(posterior, 20), 1).steps[0]
    return row("row update", seconds, arms=n_arms, t=before, bytes=8 * n_arms * (before + 10))


def _flushes(side: int, before: int, lengths: tuple[int, ...]) -> list[dict[str, Any]]:
    """Rows of the flush that ends a block of the lazy posterior, after so many pulls, five blocks of each length."""
    model, found = many_arms.problem_of(3, side, 1).model, []
    posterior = BlockPosterior(model.kernel, model.points, model.noise_variance, before + 5 * sum(lengths) + BLOCK)
    pulled = 0
    while pulled < before:
        pulled += _fill(posterior, BLOCK - 1)
        posterior.mean  # noqa: B018  (ends the block)
    for pulls in lengths:
        seconds = []
        for _ in range(5):
            pulled += _fill(posterior, pulls)
            seconds += timed(lambda: again(lambda: posterior.mean, 1), 1).totals()
        flop, read = model.n_arms * (2 * pulls * pulled + pulls**2), 8 * model.n_arms * pulled
        found.append(row("lazy flush", seconds, arms=model.n_arms, t=pulled, pulls=pulls, flop=flop, bytes=read))
    return found


def _fill(posterior: BlockPosterior, pulls: int) -> int:
    """Begin a block and pull its members of largest variance; return how many pulls it got."""
    posterior.follow(posterior.sd, 0)
    for arm in posterior.members[:pulls]:
        posterior.update(int(arm), 0.5)
    return pulls


def _step(n_arms: int, n_rounds: int) -> list[dict[str, Any]]:
    """Rows of a step of UCB, of its halves, and of one `dger` in place on as many arms."""
    policy = policy_on(CovariancePosterior, _told(n_arms), n_rounds)
    rng, noise = np.random.default_rng(5), np.random.default_rng(6).standard_normal(n_rounds)

    def play() -> Iterator[None]:
        for y in noise:
            arm = policy.ask(rng)
            yield
            policy.tell(arm, y)
            yield

    halves = timed(play, 1).steps[0].reshape(-1, 2)
    matrix, vector = np.asfortranarray(np.eye(n_arms)), np.full(n_arms, 1e-9)
    call = partial(dger, -1.0, vector, vector, a=matrix, overwrite_a=1, overwrite_x=0, overwrite_y=0)
    product = timed(lambda: again(call, n_rounds), 1).steps[0]
    parts = {"UCB step": halves.sum(axis=1), "UCB step: ask": halves[:, 0], "UCB step: tell": halves[:, 1]}
    return [row(name, seconds, arms=n_arms) for name, seconds in (parts | {"dger in place": product}).items()]


def draw(table: pd.DataFrame) -> Figure:
    """Return the share of both limits that every job reaches."""
    table = table[~table["job"].isin(["bandwidth", "products"])].dropna(
        subset=["of_bandwidth", "of_products"], how="all"
    )
    figure, ax = plt.subplots(figsize=(figures.WIDTH, 1.2 + 0.24 * len(table)))
    place = np.arange(len(table))
    ax.plot(table["of_bandwidth"], place, "o", label="of memory bandwidth")
    ax.plot(table["of_products"], place, "D", label="of the rate of matrix products")
    ax.axvline(1, color="0.5", linewidth=0.8)
    ax.set_yticks(place, [_label(job) for _, job in table.iterrows()])
    ax.set(xlabel="share of the limit measured in the same run (%)", xlim=(0, None))
    ax.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0, symbol=""))
    ax.invert_yaxis()
    figure.legend(loc="outside lower center", ncols=2)
    updates, flushes = table[table["job"] == "covariance update"], table[table["job"] == "lazy flush"]
    most, flush = updates.loc[updates["arms"].idxmax()], flushes["of_products"].max()
    update = f"With {most['arms']:.0f} arms a covariance update reaches {most['of_bandwidth']:.0%} of bandwidth"
    figure.suptitle(f"{update},\na lazy flush up to {flush:.0%} of products")
    return figure


def _label(job: pd.Series) -> str:
    known = [
        f"{value:.0f} {name}" for name, value in (("arms", job["arms"]), ("pulls", job["pulls"])) if value == value
    ]
    return f"{job['job']} ({', '.join(known)})"


def shown(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table in milliseconds, with the limits in GB/s and Gflop/s and the others' shares in percent."""
    rate = {"bandwidth": (table["bytes"], "GB/s"), "products": (table["flop"], "Gflop/s")}
    found = pd.DataFrame(
        {"job": [_label(job) if job["arms"] == job["arms"] else job["job"] for _, job in table.iterrows()]}
    )
    for name in ("min", "median", "max"):
        found[f"{name} ms"] = [f"{1e3 * value:.3g}" for value in table[f"{name}_s"]]
    for share in ("of_bandwidth", "of_products"):
        found[share] = [f"{value:.0%}" if value == value else "" for value in table[share]]
    notes = [
        f"{rate[job][0][i] / table['min_s'][i] / 1e9:.3g} {rate[job][1]}" if job in rate else ""
        for i, job in enumerate(table["job"])
    ]
    found["note"] = [" ".join(filter(None, pair)) for pair in zip(notes, table["note"].fillna(""), strict=True)]
    return found


def aims(table: pd.DataFrame) -> list[Aim]:
    """Return what came of the aims on updates, on the step on 100 arms, and on many arms."""
    return [*_of_updates(table), _of_step(table), *many_arms.aims(table)]


def _of_updates(table: pd.DataFrame) -> Iterator[Aim]:
    for _, update in table[(table["job"] == "covariance update") & (table["arms"] >= FROM_ARMS)].iterrows():
        alone = table[(table["job"] == "dsyr alone") & (table["arms"] == update["arms"])]["of_bandwidth"].iloc[0]
        aim = f"covariance update, A = {update['arms']:.0f}: at least {SHARE:.0%} of bandwidth"
        share, reason = update["of_bandwidth"], f"dsyr alone reaches {alone:.0%}"
        yield Aim(aim, f"{share:.0%}", bool(share >= SHARE), reason)


def _of_step(table: pd.DataFrame) -> Aim:
    median = table[table["arms"] == 100].set_index("job")["median_s"]
    allowed, step = BEYOND_DGER + median["dger in place"], median["UCB step"]
    aim = f"UCB step, A = 100: at most {1e6 * BEYOND_DGER:.0f} µs and one dger in place, {1e6 * allowed:.0f} µs"
    ask, tell = 1e6 * median["UCB step: ask"], 1e6 * median["UCB step: tell"]
    return Aim(aim, f"{1e6 * step:.0f} µs", bool(step <= allowed), f"ask {ask:.0f} µs, tell {tell:.0f} µs")


QUESTION = Question(
    "limits",
    "What share of memory bandwidth, and of the rate of a matrix product, do updates and runs reach? A whole run is "
    "set against the products that it cannot do without, A T² flop. More than 100 % of "
    "bandwidth: all of it fits into the cache.",
    measure,
    {
        "entries": 20_000_000,
        "square": 3000,
        "covariances": (1000, 2500, 5000),
        "rows": ((2500, 1000), (10_000, 1000)),
        "flushes": (30, 2000, (16, BLOCK - 1)),
        "step_rounds": 3000,
        "many": (30, 10_000),
        "repeats": 3,
    },
    {
        "entries": 1000,
        "square": 20,
        "covariances": (20, 30),
        "rows": ((20, 10),),
        "flushes": (8, 70, (4, 8)),
        "step_rounds": 20,
        "many": (8, 40),
        "repeats": 2,
    },
    draw,
    shown,
    aims,
)
