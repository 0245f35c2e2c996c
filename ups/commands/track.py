"""ups track sync RUN: sends trackers what they could not take while the run went on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from diagnostics.api import PathArgument
from ups.errors import ConfigError, UpsError
from ups.run_folder import RunFolder


@click.group(name="track")
def command() -> None:
    """Send what trackers have not been sent; metrics.jsonl has all rows."""


@command.command()
@click.argument("run", type=PathArgument("folder"))
@click.option("--wandb-mode", type=click.Choice(["offline", "online"]), help="Instead of the run's own.")
def sync(run: Path, wandb_mode: Any) -> None:
    """Send every tracker of RUN the rows it has not got, and how the run ended."""
    from ups.tracking import sending
    from ups.tracking.backends import check, named
    from ups.tracking.sidecar import KILLED, end_file
    from ups.tracking.turn import took_turn

    folder = RunFolder(run)
    if not folder.config.is_file():
        raise ConfigError(f"{run} is no run of ups train: {folder.config.name} is not there", hint="ups track sync RUN")
    config = folder.read_config()
    if wandb_mode is not None:
        tracking = config.tracking
        config = replace(config, tracking=replace(tracking, wandb=replace(tracking.wandb, mode=wandb_mode)))
    if not took_turn(folder):
        raise ConfigError(
            f"the trackers of {run} are fed already: its training goes on, or another `ups track sync` does",
            hint="wait for its end, then run the command again",
        )
    check(config)
    before = {name: sending.unsent(folder, name) for name in named(config)}
    end = sending.End()
    # Without a code the trackers' process was killed, too.
    end.set(int(end_file(folder).read_text(encoding="utf-8")) if end_file(folder).exists() else KILLED)
    left = {name: how for name, how in named(config).items() if before[name] or not sending.has_ended(folder, name)}
    sendings = {name: sending.Sending(name, how, config, folder, end) for name, how in left.items()}
    if said := sending.finish(sendings, folder, config.tracking.finish_s):
        raise UpsError("; ".join(said).replace("; ups track sync RUN", ""), hint="what is left stays in metrics.jsonl")
    for name, rows in before.items():
        click.echo(f"{name}: {rows} rows sent, {sending.unsent(folder, name)} left")
