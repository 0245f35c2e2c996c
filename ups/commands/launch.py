"""ups launch slurm CONFIG: writes, checks and submits the job; clouds are not there yet."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import click

from diagnostics.api import PathArgument
from ups.config import load_config
from ups.errors import ConfigError, UpsError
from ups.launch.slurm_script import SlurmRequest, batch_script
from ups.run_folder import write_atomically

_TIME = re.compile(r"^(?:\d{1,3}-)?\d{1,4}(?::\d\d){0,2}$")
_WORD = re.compile(r"[^\w.-]")
SUBMIT_S = 60.0


@click.group(name="launch")
def command() -> None:
    """Start a training where others schedule it."""


@command.command()
@click.argument("config", type=PathArgument())
@click.option("--nodes", type=click.IntRange(min=1), default=1, show_default=True)
@click.option("--time", "limit", required=True, metavar="H:MM:SS", help="As sbatch reads it: 2:00:00, 1-12:00:00.")
@click.option("--gpus", type=click.IntRange(min=0), default=0, help="GPUs a node, and as many ranks.")
@click.option("--nproc", type=click.IntRange(min=1), help="Ranks a node; default: its GPUs, else 1.")
@click.option("--partition", default="", metavar="NAME")
@click.option("--set", "overrides", multiple=True, metavar="KEY=VALUE", help="Override a key of CONFIG.")
@click.option("--dry-run", is_flag=True, help="Print the script; write and submit nothing.")
def slurm(
    config: Path, nodes: int, limit: str, gpus: int, nproc: int | None, partition: str, overrides: tuple[str, ...],
    dry_run: bool,
) -> None:  # fmt: skip
    """Write OUTPUT.sbatch beside the run's folder, audit it, and submit it.

    The job is put back into the queue when its time runs out or another takes its nodes, and goes on from its last
    checkpoint. The folders of data, cache and output have to be seen by all nodes.
    """
    wanted = load_config(config, overrides)
    if not _TIME.match(limit):
        raise ConfigError(f"--time {limit!r} is no time", hint="for example: --time 2:00:00")
    if _WORD.search(partition):
        raise ConfigError(f"--partition {partition!r} is no name of a partition")
    output = Path(wanted.output.dir).absolute()
    request = SlurmRequest(
        config=config.absolute(), name=_WORD.sub("_", wanted.name) or "ups", output=output, nodes=nodes, time=limit,
        ranks_per_node=nproc or gpus or 1, gpus_per_node=gpus, partition=partition, overrides=overrides,
        bin=Path(sys.executable).parent,
    )  # fmt: skip
    script = batch_script(request)
    if dry_run:
        click.echo(script, nl=False)
        return
    place = output.with_name(f"{output.name}.sbatch")
    place.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(place, script.encode())
    _audit(place, request.bin)
    click.echo(f"submitted as job {_submit(place)}; when it has ended: ups-doctor diagnose {output}-doctor")


def _audit(script: Path, programs: Path) -> None:
    """Raises UpsError where the doctor finds an error in the script."""
    done = subprocess.run([programs / "ups-doctor", "audit", str(script)], capture_output=True, text=True, check=False)
    if done.returncode == 1:
        raise UpsError(f"the audit found errors in {script}", hint=done.stdout[-2000:])


def _submit(script: Path) -> str:
    """Returns the number of the job. Raises UpsError with Slurm's words."""
    if shutil.which("sbatch") is None:
        raise UpsError(f"sbatch is not here; {script} is written", hint=f"on a login node: sbatch {script}")
    try:
        done = subprocess.run(["sbatch", "--parsable", str(script)], capture_output=True, text=True, check=False,
                              timeout=SUBMIT_S)  # fmt: skip
    except subprocess.TimeoutExpired as error:
        raise UpsError(f"sbatch did not answer within {SUBMIT_S:.0f} s", hint="is slurmctld up: sinfo") from error
    if done.returncode:
        raise UpsError(f"Slurm refused {script}: {done.stderr.strip()[-500:]}", hint="sinfo shows nodes and partitions")
    return done.stdout.strip().partition(";")[0]
