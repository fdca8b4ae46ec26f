"""The command line: `kbrepro --help`."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
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
    """Replicate five papers on kernelized bandits."""


@main.command()
@click.argument("notebooks", nargs=-1, metavar="[NOTEBOOK]...")
@click.option("--profile", default="quick", show_default=True, help="quick, or a folder of notebooks/profiles: paper.")
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="Override a parameter; may be repeated.")
@click.option("--jobs", type=click.IntRange(min=1), help="Worker processes. [default: one a processor]")
@click.option("--dry-run", is_flag=True, help="Print what would run, with minutes and memory; nothing is run.")
def reproduce(
    notebooks: tuple[str, ...], profile: str, settings: tuple[str, ...], jobs: int | None, dry_run: bool
) -> None:
    """Run notebooks (all, if none is named) and keep their results.

    They go to results/<profile>/, or to results/custom/ when a parameter is overridden.
    """
    from kbrepro.batch import profiles
    from kbrepro.batch import run as batch

    overrides = dict(profiles.read_setting(text) for text in settings)
    root = paths.project_root()
    if dry_run:
        from kbrepro.batch import dry_run as dry

        click.echo(dry.told(batch.plan(list(notebooks), profile, overrides, root), jobs))
        return
    for folder in batch.run(list(notebooks), profile, overrides, jobs, root):
        click.echo(folder.relative_to(root).as_posix())


@main.command()
@click.argument("notebooks", nargs=-1, metavar="[NOTEBOOK]...")
def refresh(notebooks: tuple[str, ...]) -> None:
    """Make the .ipynb files anew from the .py files, with outputs (no data, no cache, quick)."""
    from kbrepro.batch import run as batch

    batch.refresh(list(notebooks))


@main.command()
@click.option("--profile", default="quick", show_default=True, help="quick, paper, or custom/<digest>.")
def report(profile: str) -> None:
    """Make an HTML report, readable without network, of the results of a profile."""
    from kbrepro.batch import profiles, site

    root = paths.project_root()
    if not profile.startswith("custom/"):
        profiles.chosen([profile], profiles.profile_names(root), "profile")
    index = site.build(root, root / "results" / profile)
    click.echo(index.relative_to(root).as_posix())


@main.command()
def claims() -> None:
    """Print what the full-scale runs found of every claim."""
    from kbrepro import scorecard

    runs = scorecard.read(paths.project_root() / "results" / "paper")
    if not runs:
        raise click.ClickException("no verdicts in results/paper: first run `kbrepro reproduce --profile paper`")
    click.echo(scorecard.for_terminal(runs, shutil.get_terminal_size().columns))


@main.command("scorecard")
def renew_scorecard() -> None:
    """Write results/README.md, its picture, and what README and docs quote of the full-scale runs, anew."""
    from kbrepro.batch import quoted

    root = paths.project_root()
    for path in quoted.renew(root):
        click.echo(path.relative_to(root).as_posix())


@main.command()
def status() -> None:
    """Print which committed full-scale runs were not judged by today's rules, or are older than the code."""
    from kbrepro import scorecard
    from kbrepro.batch import provenance

    root = paths.project_root()
    found = scorecard.stale(root), provenance.outdated(root)
    for notebook in scorecard.read(root / "results" / "paper"):
        said = [lines[notebook] for lines in found if notebook in lines]
        click.echo(f"{notebook}: {'; '.join(said) or 'up to date'}")


@main.command()
@click.argument("folders", nargs=-1, metavar="[[A] B]", type=click.Path(exists=True, file_okay=False, path_type=Path))
def compare(folders: tuple[Path, ...]) -> None:
    """Lay two runs beside each other: folders of results, such as results/paper, or of one notebook.

    A is by default the full-scale run as last committed, B the newest of yours: results/paper if it is not as
    committed, else the folder of the newest run under results/. One folder alone is B. Exit code 1 if anything is
    beyond its tolerance, 2 if there is nothing to compare.
    """
    from kbrepro.batch import compare as comparison

    try:
        found = comparison.runs(paths.project_root(), *folders)
    except (ValueError, RuntimeError, OSError) as error:
        raise click.UsageError(str(error)) from error
    click.echo(comparison.text(found))
    if any(beside.differs for beside in found):
        raise click.exceptions.Exit(1)


@main.command()
@click.argument("policy", required=False, metavar="FILE.py:NAME")
@click.option("--experiment", metavar="NAME", help="One of --list.")
@click.option("--trials", type=click.IntRange(min=2), help="The first so many. [default: 20; on sensors all]")
@click.option("--jobs", type=click.IntRange(min=1), help="Worker processes. [default: one a processor]")
@click.option("--list", "listing", is_flag=True, help="Print the experiments.")
def beside(policy: str | None, experiment: str | None, trials: int | None, jobs: int | None, listing: bool) -> None:
    """Play a policy of yours on the trials of a full-scale run, beside those that played them.

    NAME in FILE.py (or MODULE:NAME) is a class, or a function, that makes a policy from what it is told and the
    horizon. Figure and table go to results/custom/beside/.
    """
    from kbrepro.batch import beside as side

    if listing:
        click.echo(side.listed().to_string())
        return
    if not policy or not experiment:
        raise click.UsageError("FILE.py:NAME and --experiment are needed, or --list")
    if jobs:
        os.environ["KBREPRO_JOBS"] = str(jobs)
    compared = side.play(side.policy_of(policy), experiment, trials)
    root = paths.project_root()
    folder = root / "results" / "custom" / "beside" / experiment
    side.save(compared, folder, policy.rpartition(":")[2])
    click.echo(compared.table.to_string(float_format="{:.4g}".format, na_rep=""))
    click.echo(folder.relative_to(root).as_posix())


@main.group(invoke_without_command=True)
@click.pass_context
def data(ctx: click.Context) -> None:
    """Print which data files are found, with their checksums."""
    if ctx.invoked_subcommand is None:
        from kbrepro.data.store import status

        click.echo(status())


@data.command()
@click.option("--if-missing", is_flag=True, help="Do nothing where data is found; a failed download is no error.")
def fetch(if_missing: bool) -> None:
    """Download the data from its owners into data/."""
    from kbrepro.data import store

    try:
        store.fetch(if_missing=if_missing)
    except store.DownloadFailed as error:
        if not if_missing:
            raise
        click.echo(f"{error}; going on without", err=True)


@data.command()
@click.argument("upstream", type=click.Path(exists=True, file_okay=False, path_type=Path))
def traffic(upstream: Path) -> None:
    """Make data/traffic/ from the upstream files in a folder: two .mat files, los_speed.csv, or all three."""
    from kbrepro.data import traffic

    for path in traffic.make(upstream, paths.project_root() / "data" / "traffic"):
        click.echo(path)


if __name__ == "__main__":
    sys.exit(main(prog_name="kbrepro"))
