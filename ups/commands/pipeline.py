"""ups pipeline CONFIG: all of it, from the configuration to a promoted checkpoint and a report."""

from __future__ import annotations

from pathlib import Path

import click

from diagnostics.api import PathArgument
from ups.config import load_config
from ups.errors import naming

NAMES = (
    "config",
    "data",
    "cache-scan",
    "preflight",
    "dry-run",
    "autoencoder",
    "cache",
    "stages",
    "gate",
    "evaluation",
    "leaderboard",
    "report",
)
MAY_BE_SKIPPED = ("cache-scan", "preflight", "dry-run", "gate", "leaderboard")


@click.command(name="pipeline")
@click.argument("config", type=PathArgument())
@click.option("--set", "overrides", multiple=True, metavar="KEY=VALUE", help="Override a key: training.workers=2.")
@click.option("--from", "start", type=click.Choice(NAMES), help="Do this step and those after it again.")
@click.option("--until", type=click.Choice(NAMES), help="Stop after this step.")
@click.option("--dry-run", "only_plan", is_flag=True, help="Say what would be done, and do nothing.")
def command(
    config: Path, overrides: tuple[str, ...], start: str | None, until: str | None, only_plan: bool, **skips: bool
) -> None:
    """Check, train, evaluate, promote and report what CONFIG describes; what is done already is not done again.

    Exit code 0 only when every file was made and could be read back; else that of the step that failed.
    """
    wanted = load_config(config, overrides)
    from ups.pipeline import engine
    from ups.pipeline.state import PipelineState, digest_of
    from ups.pipeline.steps import STEPS, check

    skipped = [name for name in MAY_BE_SKIPPED if skips[f"skip_{name.replace('-', '_')}"]]
    choice = engine.Choice(start=start, until=until, skipped=skipped)
    experiment = engine.Experiment(config=wanted, path=config, overrides=overrides)
    if only_plan:
        with naming(config, overrides):
            check(wanted)
        state = PipelineState.load(experiment.folder / "state.json")
        if state.config != digest_of(wanted):
            state.steps.clear()
        for step, what in engine.plan(STEPS, state, choice):
            click.echo(f"{what:8}{step.name:12}{step.what}")
        return
    with naming(config, overrides):
        engine.run(STEPS, experiment, choice, lambda line: click.echo(line, err=False))
    click.echo(f"completed: {experiment.folder / 'report.md'}" if until is None else f"completed until {until}")


for one in MAY_BE_SKIPPED:
    command.params.append(click.Option([f"--skip-{one}"], is_flag=True, help="Leave this step out."))
