"""The command line: `kbrepro --help`."""

import io
import math
import signal
import sys
import time
from functools import partial
from typing import Any

import click

from kbrepro import paths


class _Commands(click.Group):
    """Errors that say what is wrong become one `Error:` line instead of a traceback."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except (click.exceptions.Exit, click.Abort, BrokenPipeError):
            raise
        except (ValueError, RuntimeError, OSError) as error:
            raise click.ClickException(str(error)) from error


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="kbrepro")
def main() -> None:
    """Replicate papers on kernelized bandits."""
    for stream in (sys.stdout, sys.stderr):  # one that is not UTF-8 shows a Greek letter as ?
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    # schedulers send it: the same as Ctrl-C
    signal.signal(signal.SIGTERM, signal.default_int_handler)


#: What is named on the command line, none or more.
Names = tuple[str, ...]
of_notebooks = click.argument("notebooks", nargs=-1, metavar="[NOTEBOOK]...")
of_fresh = click.option(
    "--fresh",
    multiple=True,
    metavar="[LABEL]",
    is_flag=False,
    flag_value="*",
    help="Play it, or all, anew.",
)
of_discard = click.option(
    "--discard", is_flag=True, help="Go on without cells that the .ipynb alone has."
)
of_profile = click.option(
    "--profile", default=paths.FULL_SCALE, show_default=True, help="quick: everything small."
)
of_minutes = partial(
    click.option, "--minutes", type=click.FloatRange(0, min_open=True), help="In total."
)


@main.command()
@of_notebooks
@of_profile
@of_fresh
@of_discard
def reproduce(notebooks: Names, profile: str, fresh: Names, discard: bool) -> None:
    """Run notebooks (all if none is named) and keep their results in results/<profile>/.

    Trials kept there, in played/, are read, and one of each label is replayed; all others are
    played and kept, label by label.
    """
    from kbrepro.batch import pairs, run

    root = paths.project_root()
    pairs.require_unedited(root, notebooks, discard)
    for folder in run.run_notebooks(notebooks, profile, root, fresh):
        click.echo(folder.relative_to(root).as_posix())
    click.echo(f"Next: kbrepro report --profile {profile}")


@main.command()
@of_notebooks
@of_profile
@click.option("--label", "labels", multiple=True, help="Only this label; may be given again.")
@of_fresh
@of_minutes(default=math.inf)
def play(notebooks: Names, profile: str, labels: Names, fresh: Names, minutes: float) -> None:
    """Play what the stores of a profile lack of the notebooks' plans, label by label, without the
    notebooks.

    Each label is kept as it ends. The exit code is 1 if the minutes were not enough.
    """
    from kbrepro.batch import play as missing
    from kbrepro.batch.profiles import plan

    runs = plan(notebooks, profile, paths.project_root())
    if labels and len(runs) > 1:
        raise click.UsageError("--label is of one notebook: name it")
    fresh_labels = missing.replaceable(runs, fresh)
    end, all_there = time.monotonic() + 60 * minutes, True
    for r in runs:
        with missing.locked(r):
            all_there &= missing.play_missing(r, labels, fresh_labels, end)
    sys.exit(not all_there)


@main.command()
@of_notebooks
@of_discard
def refresh(notebooks: Names, discard: bool) -> None:
    """Run the notebooks as a reader opens them, without data, and keep them with their outputs."""
    from kbrepro.batch import pairs, run

    root = paths.project_root()
    pairs.require_unedited(root, notebooks, discard)
    run.refresh_notebooks(notebooks, root)


@main.command()
@click.argument("number")
@click.argument("name")
def new(number: str, name: str) -> None:
    """Add a paper, such as `07 entropy_search`: a folder, a notebook, a quick profile and a test,
    which run.
    """
    from kbrepro.batch.new import add

    click.echo("\n".join(add(paths.project_root(), number, name)))
    click.echo(
        f"Next: kbrepro reproduce {number} --profile quick; then replace the science"
        " (CONTRIBUTING.md)"
    )


@main.command()
@of_notebooks
def check(notebooks: Names) -> None:
    """Say what is missing or odd in the papers; the exit code is 1 if anything is."""
    from kbrepro.batch.check import odd

    lines = odd(paths.project_root(), notebooks)
    click.echo("\n".join(lines) or "nothing is missing or odd (no notebook was run)")
    sys.exit(bool(lines))


@main.command()
@of_profile
def report(profile: str) -> None:
    """Make an HTML report of the results of a profile; it needs no network."""
    from kbrepro.batch import profiles
    from kbrepro.batch.report import build

    root = paths.project_root()
    profiles.require(root, profile)
    click.echo(build(root, root / "results" / profile).relative_to(root).as_posix())


@main.command()
@click.argument("claim_ids", nargs=-1, metavar="[CLAIM]...")
def claims(claim_ids: Names) -> None:
    """Print what came out: a line a claim, or all of each claim that is named, such as 4-H."""
    from difflib import get_close_matches

    from kbrepro import checks
    from kbrepro.claims import scorecard

    lines_of = {}
    results = paths.project_root() / f"results/{paths.FULL_SCALE}"
    for run in scorecard.read(results).values():
        for record in (*run["claims"], *run["theorems"]):
            lines_of[record["id"]] = scorecard.lines(record)
    shown = [] if claim_ids else [lines[0] for lines in lines_of.values()]
    for name in claim_ids:
        if name.upper() not in lines_of:
            near = ", ".join(get_close_matches(name.upper(), lines_of, 5, cutoff=0))
            raise checks.refused("claim", name, f"one that `kbrepro claims` prints, such as {near}")
        shown += lines_of[name.upper()]
    click.echo("\n".join(shown))


@main.command()
@of_notebooks
@of_minutes(default=5.0, show_default=True)
@click.option(
    "--seed", default=0, show_default=True, type=click.IntRange(min=0), help="Seed of the draw."
)
def audit(notebooks: Names, minutes: float, seed: int) -> None:
    """Draw kept trials at random, play them again with today's code, and compare.

    The minutes are wall time. The exit code is 1 if one differs, or if nothing of a notebook was
    played.
    """
    from kbrepro.batch.audit import audit_run
    from kbrepro.batch.profiles import plan

    runs, is_green = plan(notebooks, paths.FULL_SCALE, paths.project_root()), True
    for r in runs:
        done = audit_run(r, minutes / len(runs), seed)
        click.echo(done)
        is_green &= done.is_green
    sys.exit(not is_green)


@main.command()
@click.argument("policy", metavar="FILE.py:NAME")
@click.option("--notebook", required=True, help="Notebook that played the trials, such as 03.")
@click.option("--label", default="", help="Label of the trials; without one all labels are named.")
@click.option(
    "--trials", default=20, show_default=True, help="How many of the kept ones, from the first."
)
def beside(policy: str, notebook: str, label: str, trials: int) -> None:
    """Play your own policy on trials that a notebook played, and compare it with the policies
    there.

    NAME in FILE.py is a class or function that makes a policy from (model, horizon, rng=...): a
    kbrepro.Model, which is all that it may know of the problem, and the number of rounds. Figure
    and table go to results/custom/beside/.
    """
    from kbrepro.batch import beside as side

    file, _, name = policy.rpartition(":")
    side.require_writable()
    compared = side.compare(side.policy_of(policy), notebook, label, trials, file)
    click.echo(compared.table.to_string(float_format="{:.4g}".format, na_rep=""))
    click.echo(
        "open: the 95 % interval of the paired difference contains 0; more trials may decide"
    )
    click.echo(side.save(compared, notebook, label, name))


@main.group(invoke_without_command=True)
@click.pass_context
def data(ctx: click.Context) -> None:
    """Print which data files are found, with their checksums."""
    if ctx.invoked_subcommand is None:
        from kbrepro.data.store import status

        click.echo(status())


@data.command()
def fetch() -> None:
    """Download the data that is missing from its owners into data/.

    The exit code is 1 if some did not come.
    """
    from kbrepro.data import store

    try:
        store.download_missing()
    except store.DownloadFailed as failed:
        click.echo(failed, err=True)
        sys.exit(1)


if __name__ == "__main__":
    main(prog_name="kbrepro")
