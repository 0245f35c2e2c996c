"""`ups-doctor export RUN --perfetto | --chrome | ...`: a record as traces that other tools open."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from diagnostics.argument_types import PathArgument
from diagnostics.core.console import say
from diagnostics.core.errors import UsageError, from_os_error
from diagnostics.core.files import write_bytes_whole
from diagnostics.core.registry import discover
from diagnostics.core.shell_quoting import pasteable
from diagnostics.diagnosis.engine import job_from_record, record_folder
from diagnostics.dynamic.trace.trace_builder import trace_of
from diagnostics.export import formats
from diagnostics.record.record import RunRecord

FORMATS = discover(formats, key="FORMAT")


def _options(command: Callable[..., None]) -> Callable[..., None]:
    for name, module in reversed(FORMATS.items()):
        command = click.option(f"--{name}", is_flag=True, help=f"{module.HELP}; opens in {module.OPENS}.")(command)
    return command


@click.command("export")
@click.argument("run", type=PathArgument("folder"))
@_options
@click.option("--to", type=PathArgument(), metavar="DIR", help="Write there; default: the folder RUN.")
def command(run: Path, to: Path | None, **options: Any) -> None:
    """Writes the record of RUN as traces that other tools open: all ranks on one clock, where they met joined.

    RUN is the folder that `ups-doctor run` or attach left. Secrets are hidden as in the report. Exit code: 0 written,
    2 no such folder or no format named.
    """
    wanted = [module for name, module in FORMATS.items() if options[name.replace("-", "_")]]
    if not wanted:
        raise UsageError("no format named", hint=f"name one or more: {', '.join(f'--{name}' for name in FORMATS)}")
    record = RunRecord.load(record_folder(run))
    if record.job is None and not record.agents:
        raise UsageError(f"{run} holds no record of a job", hint="name the folder of a run: reports/<time>-run/")
    trace = trace_of(job_from_record(record), folded=False)
    folder = to or (run.parent if run.name == "record" else run)
    for module in wanted:
        files: dict[str, bytes] = module.files(trace)
        if not files:
            say(f"{module.FORMAT}: no rank of this record left anything that it has a place for", err=True)
        for name, data in files.items():
            _write(folder / name, data)
        if files:
            first = folder / next(iter(files))
            shown = first.parent if len(files) > 1 else first
            opens = module.OPENS.replace("DIR", pasteable(folder))
            say(f"{pasteable(shown)}  {len(files)} file{'s' * (len(files) > 1)}; open: {opens}")


def _write(path: Path, data: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_bytes_whole(path, data)
    except OSError as error:
        raise from_os_error(error, action="cannot write", path=path) from error
