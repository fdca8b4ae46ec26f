"""The command line: `kbrepro --help`."""

import shutil
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
    """Replicate papers on kernelized bandits."""


@main.command()
@click.argument("notebooks", nargs=-1, metavar="[NOTEBOOK]...")
@click.option("--profile", default="quick", show_default=True, help="quick, or a folder of notebooks/profiles: paper.")
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="Override a parameter; may be repeated.")
@click.option("--jobs", type=click.IntRange(min=1), help="Worker processes. [default: one a processor]")
@click.option("--fresh", multiple=True, metavar="[LABEL]", is_flag=False, flag_value="*", help="Play it anew, or all.")
def reproduce(
    notebooks: tuple[str, ...], profile: str, settings: tuple[str, ...], jobs: int | None, fresh: tuple[str, ...]
) -> None:
    """Run notebooks (all, if none is named) and keep their results.

    They go to results/<profile>/, or to results/custom/ when a parameter is overridden. Trials that are kept there, in
    played/, are read; the rest is played and kept, label by label.
    """
    from kbrepro.batch import profiles
    from kbrepro.batch import run as batch
    from kbrepro.site import quoted
    from kbrepro.verdicts import scorecard

    root, overrides = paths.project_root(), dict(map(profiles.read_setting, settings))
    try:
        made = batch.run(list(notebooks), profile, overrides, jobs, root, fresh)
    finally:  # whatever failed, what succeeded is quoted
        if profile == "paper" and not overrides:
            quoted.renew(root)
    for folder in made:
        click.echo(f"{folder.name}: {scorecard.summary(scorecard.read_run(folder)['claims'])}.")
        click.echo(f"  {(folder / 'notebook.ipynb').relative_to(root).as_posix()}")
    where = made[0].parent.relative_to(root / "results").as_posix()
    click.echo(f"Next: kbrepro report --profile {where}")


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
    from kbrepro.site import build

    root = paths.project_root()
    click.echo(build.build(root, root / "results" / profile).relative_to(root).as_posix())


@main.command()
@click.argument("claim_ids", nargs=-1, metavar="[CLAIM]...")
@click.option(
    "--why", is_flag=True, help="Claims whole, as those that are named: parts, rule, interpretations, history."
)
@click.option("--paper", default="", metavar="NOTEBOOK", help="Only of one notebook, such as 03.")
@click.option("--verdict", default="", metavar="VERDICT", help="Only of one verdict, such as depends.")
def claims(claim_ids: tuple[str, ...], why: bool, paper: str, verdict: str) -> None:
    """Print what the full-scale runs found: a line a claim, or each of those named, such as 4-A, whole."""
    from kbrepro import checks
    from kbrepro.batch import profiles
    from kbrepro.verdicts import scorecard, terminal
    from kbrepro.verdicts.claims import VERDICTS

    runs, width = scorecard.read(paths.project_root() / "results" / "paper"), shutil.get_terminal_size().columns
    if not runs:
        raise click.ClickException("no verdicts in results/paper: first run `kbrepro reproduce --profile paper`")
    if verdict:
        checks.one_of(VERDICTS, verdict=verdict)
    runs = {name: runs[name] for name in profiles.chosen([paper] if paper else [], [*runs], "notebook")}
    its = [r["id"] for run in runs.values() for r in run["claims"] if verdict in ("", r["verdict"])]
    wanted = claim_ids or (its if why else ())
    click.echo(terminal.named(runs, wanted, width) if wanted else terminal.listed(runs, verdict, width))


@main.command("scorecard")
def renew_scorecard() -> None:
    """Write results/README.md, its picture, and what README and docs quote of the full-scale runs, anew."""
    from kbrepro.site import quoted

    root = paths.project_root()
    click.echo("\n".join(path.relative_to(root).as_posix() for path in quoted.renew(root)))


@main.command()
@click.argument("notebooks", nargs=-1, metavar="[NOTEBOOK]...")
@click.option("--profile", default="paper", show_default=True, help="paper, quick, or another folder of results.")
@click.option("--minutes", default=5.0, show_default=True, type=click.FloatRange(0, min_open=True), help="In all.")
@click.option("--seed", default=0, show_default=True, type=click.IntRange(min=0), help="Of the draw of trials.")
@click.option("--jobs", type=click.IntRange(min=1), help="Worker processes. [default: one a processor]")
@click.option("--keep", is_flag=True, help="Append what was found to results/audits.csv.")
def audit(notebooks: tuple[str, ...], profile: str, minutes: float, seed: int, jobs: int | None, keep: bool) -> None:
    """Play kept trials, drawn at random, again by today's code, and compare them.

    Exit code 1 if one differs.
    """
    from kbrepro.batch import audit as replay
    from kbrepro.batch import run as batch

    root = paths.project_root()
    runs = batch.plan(list(notebooks), profile, {}, root)
    found = [replay.audit(r, minutes / len(runs), seed, jobs) for r in runs]
    click.echo(replay.text(found))
    if keep:
        replay.keep(root, found)
    if any(its.differ for its in found):
        raise click.exceptions.Exit(1)


@main.group()
def edition() -> None:
    """Rules and settings that are frozen, with a root seed, before a full-scale run."""


@edition.command("open")
@click.argument("notebook")
@click.option("--name", required=True, help="Of the edition, such as 0.3.0.")
@click.option("--why", required=True, help="Why what was played before is replaced, for results/history.csv.")
def open_edition(notebook: str, name: str, why: str) -> None:
    """Freeze the rules of a notebook and print the new root seed; its full-scale store is emptied."""
    from kbrepro.batch import editions, profiles

    root = paths.project_root()
    (chosen,) = profiles.chosen([notebook], profiles.notebook_names(root, ".ipynb"), "notebook")
    click.echo(f"{chosen}: root seed {editions.open_new(root, chosen, name, why)}; commit this before you play")


@main.command()
@click.argument("notebooks", nargs=-1, metavar="[NOTEBOOK]...")
def status(notebooks: tuple[str, ...]) -> None:
    """Print of every full-scale run: the same verdicts from its store today? when last audited, how much equal?

    Judges and shows them anew from what was played, so it takes minutes; nothing is played or written.
    """
    from kbrepro.batch import again

    for line in again.told(paths.project_root(), list(notebooks)):
        click.echo(line)


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
    if any(item.state == comparison.DIFFERS for beside in found for item in beside.items):
        raise click.exceptions.Exit(1)


@main.command()
@click.argument("policy", default="", metavar="FILE.py:NAME")
@click.option("--notebook", default="", help="Whose trials, such as 03.")
@click.option("--label", default="", help="Which of them: one of --list.")
@click.option("--profile", default="paper", show_default=True, help="paper, quick, or another folder of results.")
@click.option("--trials", type=click.IntRange(min=2), help="The first so many. [default: 20; with --block all]")
@click.option("--block", default=1, show_default=True, type=click.IntRange(min=1), help="Neighbours that count as one.")
@click.option("--list", "listing", is_flag=True, help="Print the labels that keep traces.")
def beside(policy: str, notebook: str, label: str, listing: bool, **how: Any) -> None:
    """Play a policy of yours on trials that a notebook played, beside the policies that played them.

    NAME in FILE.py is a class, or a function, that makes a policy from (model, horizon): what it may know of the
    problem, a kbrepro.Model, and the number of rounds. Figure and table go to results/custom/beside/.
    """
    from kbrepro.batch import beside as side

    if listing:
        click.echo("\n".join(side.listed(notebook, how["profile"])))
        return
    if not (policy and notebook and label):
        raise click.UsageError("FILE.py:NAME, --notebook and --label are needed, or --list")
    compared = side.play(side.policy_of(policy), notebook, label, **how)
    folder = side.save(compared, notebook, label, policy.rpartition(":")[2])
    click.echo(compared.table.to_string(float_format="{:.4g}".format, na_rep=""))
    click.echo("open: the 95 % interval of the difference, trial by trial, holds 0: more trials may decide")
    if compared.measured and how["block"] == 1:
        click.echo("measured data: neighbouring trials may resemble each other; --block N makes blocks of them")
    click.echo(folder)


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

    if failed := store.fetch(if_missing=if_missing):
        click.echo(f"{failed}; going on without", err=True)


if __name__ == "__main__":
    main(prog_name="kbrepro")
