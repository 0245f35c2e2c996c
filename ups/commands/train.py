"""ups train CONFIG: everything from data to best.pt, on as many ranks as there are GPUs, else on two."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from diagnostics.api import PathArgument, without_garbage_collection
from ups.config import load_config
from ups.errors import naming
from ups.launch import slurm_step
from ups.launch.tied import end_with_doctor
from ups.stages import ORDER


@click.command(name="train")
@click.argument("config", type=PathArgument())
@click.option("--set", "overrides", multiple=True, metavar="KEY=VALUE", help="Override a key: training.workers=2.")
@click.option(
    "--stage", type=click.Choice([*ORDER, "all"]), default="all", help="Train one stage only; all: those of stages.run."
)
@click.option("--resume", is_flag=True, help="Go on with the run in output.dir where it stopped.")
@click.option("--nproc", type=click.IntRange(min=1), help="Ranks; default: the GPUs, else 2.")
@click.option(
    "--max-restarts",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="Start ranks that failed again, from the last checkpoint, at most N times.",
)
@click.option(
    "--log",
    type=click.Choice(["auto", "plain", "json"]),
    default="auto",
    help="A bar on a terminal and lines elsewhere; lines; or one JSON object a line, on stderr.",
)
@click.option("--quiet", is_flag=True, help="Say nothing but what went wrong and, at the end, what came of it.")
@click.option("--backend", type=click.Choice(["auto", "nccl", "gloo"]), help="Force the backend of the ranks.")
@click.option("--no-preflight", is_flag=True, help="Leave out the quick checks before the start.")
@click.option("--no-doctor", is_flag=True, envvar="UPS_NO_DOCTOR", help="Do not watch the run; also UPS_NO_DOCTOR=1.")
@click.pass_context
def command(
    context: click.Context,
    config: Path,
    overrides: tuple[str, ...],
    stage: str,
    resume: bool,
    nproc: int | None,
    max_restarts: int,
    log: Any,
    quiet: bool,
    backend: str | None,
    no_preflight: bool,
    no_doctor: bool,
) -> None:
    """Train the surrogate that CONFIG describes: autoencoder, latent cache, operator, and the stages after them.

    The run is watched: what kills it or makes it lie is explained in reports/<time>-run/report.md.
    """
    if backend is not None:
        overrides = (*overrides, f"training.backend={backend}")
    end_with_doctor()
    wanted = load_config(config, overrides)
    with without_garbage_collection():
        from ups.launch import run  # torch is imported when there is something to train, not for --help

    request = run.Request(
        config=wanted,
        path=config,
        overrides=overrides,
        stages=wanted.stages.run if stage == "all" else (stage,),
        resume=resume,
        nproc=nproc,
        max_restarts=max_restarts,
        log="quiet" if quiet else log,
    )
    os.environ.update(slurm_step.variables(os.environ, wanted.training.port))
    if "RANK" in os.environ:
        context.exit(run.as_rank(request))

    def first(ranks: int) -> None:
        from ups.launch import first_checks  # the doctor is imported only where it is asked

        first_checks.examine(config, overrides, ranks, say=lambda line: None if quiet else click.echo(line, err=True))

    before_start = (lambda ranks: None) if no_preflight else first
    with naming(config, overrides):
        if not no_doctor:
            from ups.launch import watched

            if watched.is_wanted():
                run.examine(request, before_start)
                context.exit(watched.train(request))
        run.train(request, say=click.echo, before_start=before_start)
