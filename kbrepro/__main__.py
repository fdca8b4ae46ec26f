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
    """Replicate papers on Gaussian-process (kernelized) bandits.

    To play is to simulate trials: runs of policies on random problems. A label, such as "Fig. 1",
    names trials that belong together. A profile sets the notebooks' parameters: paper is the full
    scale, quick a small version. Every command needs a clone of the repository, and is run there;
    `import kbrepro` does not.
    """
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
    help="Play this label again, or all labels if none is given; may be repeated.",
)
of_discard = click.option(
    "--discard", is_flag=True, help="Run the .py even if the .ipynb has edits that the .py lacks."
)
of_profile = click.option(
    "--profile",
    default=paths.FULL_SCALE,
    show_default=True,
    help="paper: full scale; quick: small; next: an edition that is frozen.",
)
of_minutes = partial(
    click.option,
    "--minutes",
    type=click.FloatRange(0, min_open=True),
    help="Minutes of wall time in all.",
)


@main.command()
@of_notebooks
@of_profile
@of_fresh
@of_discard
def reproduce(notebooks: Names, profile: str, fresh: Names, discard: bool) -> None:
    """Run notebooks and write their results to results/PROFILE/.

    Name notebooks by number, such as 03; all run if none is named. Trials that are stored in
    results/PROFILE/NOTEBOOK/played/ are read, and one quick trial of each label is replayed as a
    check. Trials that are missing there are played and stored, label by label.

    With all trials stored, all notebooks take about 1 minute on two cores. To play all trials of
    the full scale takes at most 11 core hours.
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
@click.option("--label", "labels", multiple=True, help="Play only this label; may be repeated.")
@of_fresh
@of_minutes(default=math.inf)
def play(notebooks: Names, profile: str, labels: Names, fresh: Names, minutes: float) -> None:
    """Play missing trials and store them, without running notebooks.

    All notebooks are meant if none is named. Trials are written to
    results/PROFILE/NOTEBOOK/played/, each label when it ends; an interrupted label goes on where it
    stopped. No label is begun that is expected to end after --minutes; the exit code is 1 if one
    is left.

    To play all trials of the full scale takes at most 11 core hours. Of the next edition no label
    is played before it is frozen.
    """
    from kbrepro.batch import edition
    from kbrepro.batch import play as missing
    from kbrepro.batch.profiles import plan

    runs = plan(notebooks, profile, paths.project_root())
    if profile == paths.NEXT:
        for r in runs:
            for line in edition.require_frozen(r):
                click.echo(line, err=True)
    if labels and len(runs) > 1:
        raise click.UsageError("--label needs one notebook: name it")
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
    """Run notebooks without sensor data, and renew notebooks/*.ipynb.

    Each is written with its outputs; all are run if none is named. It takes as long as `kbrepro
    reproduce`.
    """
    from kbrepro.batch import pairs, run

    root = paths.project_root()
    pairs.require_unedited(root, notebooks, discard)
    run.refresh_notebooks(notebooks, root)


@main.command()
@click.argument("number")
@click.argument("name")
def new(number: str, name: str) -> None:
    """Add a paper from a template that runs.

    An example is `kbrepro new 07 entropy_search`. This writes the paper's folder, notebook, quick
    profile and test, adds it to CITATION.cff, and prints what was written, within seconds.
    """
    from kbrepro.batch.new import add

    click.echo("\n".join(add(paths.project_root(), number, name)))
    click.echo(
        f"Next: kbrepro reproduce {number} --profile quick; then replace the science"
        " (CONTRIBUTING.md)"
    )


@main.command()
@click.argument("what", metavar="rules|NOTEBOOK")
@click.option("--reason", default="", help="Why it is frozen again.")
def freeze(what: str, reason: str) -> None:
    """Freeze the criteria of an edition before it is played.

    `kbrepro freeze rules` writes digests of all claims, and of what judges them, to results/;
    `kbrepro freeze 04` those of what notebook 04 plays next, and the seed that follows from them,
    to results/next/. It takes seconds.
    """
    from kbrepro.batch import edition, profiles

    root = paths.project_root()
    if what == "rules":
        path = edition.freeze_rules(root, reason)
    else:
        (notebook,) = profiles.named_notebooks(root, [what])
        path = edition.freeze_notebook(root, notebook, reason)
    click.echo(path.relative_to(root).as_posix())


@main.command()
@click.argument("notebook")
def pilot(notebook: str) -> None:
    """Play one experiment of the paper's size of what comes next, and list sentences that fail.

    A sentence fails if its trials cannot judge it. No number of a result is printed, and nothing is
    written; it takes minutes. The exit code is 1 if anything is listed.
    """
    from kbrepro.batch import edition, profiles

    root = paths.project_root()
    lines = [*edition.not_evaluated(root, *profiles.named_notebooks(root, [notebook]))]
    click.echo("\n".join(lines) or "every sentence evaluates")
    sys.exit(bool(lines))


@main.command()
@click.argument("notebook")
def switch(notebook: str) -> None:
    """Put the next edition of a notebook in the place of the one that is shown.

    Its plan, claims, text and trials are moved. It takes a second.
    """
    from kbrepro.batch import edition, profiles

    root = paths.project_root()
    edition.put_in_place(root, *profiles.named_notebooks(root, [notebook]))
    click.echo(f"Next: kbrepro reproduce {notebook}; then write its findings (CONTRIBUTING.md)")


@main.command()
@click.argument("notebook")
def rerun(notebook: str) -> None:
    """Play one more experiment of the paper's size, with a seed that was frozen.

    Which sentences hold in it is written to rerun.json beside the trials of the edition that is
    shown; those that it cannot judge are listed. It takes minutes.
    """
    from kbrepro.batch import edition, profiles

    root = paths.project_root()
    (name,) = profiles.named_notebooks(root, [notebook])
    for line in edition.play_again(root, name):
        click.echo(line)
    click.echo(f"Next: kbrepro reproduce {notebook}")


@main.command()
@of_notebooks
def check(notebooks: Names) -> None:
    """List what is missing or inconsistent in the papers.

    All notebooks are checked if none is named, and what is played of the next edition is counted.
    No notebook is run and nothing is written; it takes about 10 seconds. The exit code is 1 if
    anything is missing or inconsistent.
    """
    from kbrepro.batch import edition
    from kbrepro.batch.check import odd

    for line in edition.progress(paths.project_root(), notebooks):
        click.echo(line)
    lines = odd(paths.project_root(), notebooks)
    click.echo("\n".join(lines) or "nothing is missing or inconsistent (no notebook was run)")
    sys.exit(bool(lines))


@main.command()
@of_profile
def report(profile: str) -> None:
    """Write an HTML report of the results of a profile.

    It is written to results/PROFILE/report/, needs no network, and takes about 15 seconds. Of the
    full scale the pages and pictures in results/ are renewed, too.
    """
    from kbrepro.batch import profiles
    from kbrepro.batch.report import build

    root = paths.project_root()
    profiles.require(root, profile)
    click.echo(build(root, root / "results" / profile).relative_to(root).as_posix())


@main.command()
@click.argument("claim_ids", nargs=-1, metavar="[CLAIM]...")
def claims(claim_ids: Names) -> None:
    """Print the verdict of every claim, or all about named claims.

    Without a CLAIM, such as 4-H, each claim is one line. It takes a second and writes nothing.
    """
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
    "--seed",
    default=0,
    show_default=True,
    type=click.IntRange(min=0),
    help="Seed that draws the trials.",
)
def audit(notebooks: Names, minutes: float, seed: int) -> None:
    """Replay stored trials, drawn at random, and print what differs.

    Trials of all notebooks are drawn if none is named, and played again with today's code. It
    takes --minutes and writes nothing. The exit code is 1 if a trial differs, unless another
    numpy, scipy or processor may be the cause, or if no trial of a notebook was replayed.
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
@click.option("--notebook", required=True, help="Notebook with the trials, such as 03.")
@click.option(
    "--label", default="", help="Label of the trials; all labels are listed if none is given."
)
@click.option(
    "--trials", default=20, show_default=True, help="How many of the stored trials, from the first."
)
def beside(policy: str, notebook: str, label: str, trials: int) -> None:
    """Compare your own policy with those of a notebook on its trials.

    NAME in FILE.py is a class or function that makes a policy from (model, horizon, rng=...): a
    kbrepro.Model, which is all that the policy may know of the problem, and the number of rounds.

    Your policy is played; results of the other policies are read. A figure and a table are written
    to results/custom/beside/. It takes as long as your policy needs for these trials.
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
    """List the data files that are found, and check their checksums."""
    if ctx.invoked_subcommand is None:
        from kbrepro.data.store import status

        click.echo(status())


@data.command()
def fetch() -> None:
    """Download missing sensor data (35 MB) from their owners to data/.

    It gives up if nothing arrives within 5 seconds, and after 10 minutes in all. The exit code is 1
    if a download failed.
    """
    from kbrepro.data import store

    try:
        store.download_missing()
    except store.DownloadFailed as failed:
        click.echo(failed, err=True)
        sys.exit(1)


if __name__ == "__main__":
    main(prog_name="kbrepro")
