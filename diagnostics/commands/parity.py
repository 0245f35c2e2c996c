"""`ups-doctor parity`: proves that N ranks compute what one process computes, or says by which factor they do not."""

from __future__ import annotations

import os
import shlex
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from diagnostics.adapter import describe, interpreter
from diagnostics.argument_types import PathArgument, PrecisionArgument, refuse_unknown_script
from diagnostics.command_folder import ScriptCommand
from diagnostics.core import redaction
from diagnostics.core.console import say
from diagnostics.core.errors import UsageError, from_os_error
from diagnostics.core.files import new_folder
from diagnostics.core.shell_quoting import pasteable
from diagnostics.machine.contract import Machine
from diagnostics.machine.this import open_machine
from diagnostics.parity import page, words
from diagnostics.parity.engine import Parity, ParityInterrupted, run_parity
from diagnostics.parity.request import Form, ParityRequest
from diagnostics.preflight.live_screen import LiveScreen

LOCAL_ONLY = ("wrap", "accumulate", "compiled", "amp")  # options of MODULE:make


@click.command("parity", cls=ScriptCommand)
@click.argument("target", required=False, metavar="CONFIG|MODULE:MAKE")
@click.option("--set", "overrides", multiple=True, metavar="KEY=VALUE", help="Override one key of CONFIG.")
@click.option("--stage", default="", help="Which of CONFIG's models; default: each.")
@click.option("--nproc", type=click.IntRange(2, 64), default=2, show_default=True, help="Ranks.")
@click.option("--steps", type=click.IntRange(1, 100), default=3, show_default=True, help="Optimizer steps.")
@click.option("--dtype", type=click.Choice(["float64", "float32"]), help="Default: float64 where the program can.")
@click.option("--wrap", type=click.Choice(["ddp", "fsdp2", "none"]), default="ddp", help="How MODULE:MAKE is wrapped.")
@click.option("--accumulate", type=click.IntRange(1), metavar="K", help="Micro-batches of an optimizer step.")
@click.option("--compile", "compiled", is_flag=True, help="The ranks run the model through torch.compile.")
@click.option("--amp", type=PrecisionArgument(["bf16"]), help="Forward passes under autocast, in float32.")
@click.option("--timeout", type=click.FloatRange(1), default=120.0, show_default=True, help="Seconds for one run.")
@click.option("--report-dir", type=PathArgument(), default=Path("reports"), show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print report.json on stdout, and nothing else.")
@click.option("--python", metavar="PATH", help="The job's Python; default: this one if it has torch, else the active.")
@click.option("--strict", is_flag=True, help="Notes count as differences: ranks that draw the same dropout masks.")
@click.option("-v", "--verbose", is_flag=True, help="Show the proof of every cause.")
@click.option("--script", multiple=True, metavar="TRAIN.PY [ARGS]...", help="Your own launch line, run as it is.")
@click.pass_context
def command(context: click.Context, /, target: str | None, **options: Any) -> None:
    """Proves that N ranks compute what one process computes on the same global batches.

    MODULE:MAKE is a function without arguments that gives (model, loss, batches) or a dict: train.py:make.
    CONFIG is a file whose trainer is compared. --script runs TRAIN.PY with N ranks and in one process, a few
    optimizer steps each; a script that starts its ranks itself takes their number as {nproc}.
    Exit codes: 0 the same, 1 different, 2 wrong use, 3 undecided.
    """
    _refuse_contradictions(target, options)
    python = interpreter.choose(options["python"], os.environ)
    stopped = None
    with (
        open_machine(python) as machine,
        LiveScreen(quiet=options["as_json"], verbose=options["verbose"]) as screen,
        tempfile.TemporaryDirectory(prefix="ups-doctor-parity-", ignore_cleanup_errors=True) as work,
    ):
        machine.ranks.warm(for_modules=True)
        screen.waiting_for("importing torch")
        found: list[Parity] = []
        for request in _requests(target, options, python, machine):
            screen.say(f"parity of {request.name}: {request.nproc} ranks and one process, {request.steps} steps")
            try:
                one = run_parity(request, machine, Path(work) / str(len(found)), screen.waiting_for)
            except ParityInterrupted as stop:
                one, stopped = stop.found, stop
            found.append(one)
            _refuse_what_was_named(one)
            _show(one, screen, options)
            if stopped is not None:
                break
        machine.close()
    code = exit_code(found)
    typed = redaction.line(shlex.join(["ups-doctor", "parity", *context.meta["arguments"]]))
    written = _written(found, options, typed, code)
    if options["as_json"]:
        say(page.json_text(found, command=typed, exit_code=code), nl=False)
    screen.say(written)
    if stopped is not None:
        raise stopped
    context.exit(code)


def exit_code(found: Sequence[Parity]) -> int:
    """Returns 1 where one experiment differs, 3 where one is undecided, else 0."""
    codes = {one.exit_code for one in found}
    return 1 if 1 in codes else 3 if 3 in codes else 0


def _refuse_contradictions(target: str | None, options: dict[str, Any]) -> None:
    if (target is None) == (not options["script"]):
        raise UsageError(
            "name one thing to compare: CONFIG, MODULE:MAKE or --script TRAIN.PY",
            hint="ups-doctor parity --script train.py --its-options",
        )
    made = target is not None and _is_factory(target)
    wrong = [name for name in LOCAL_ONLY if options[name] not in (None, False, "ddp") and not made]
    if wrong:
        name = wrong[0].removesuffix("d") if wrong[0] == "compiled" else wrong[0]
        raise UsageError(f"--{name} belongs to MODULE:MAKE: a script or CONFIG says by itself how it trains")
    if options["overrides"] and (target is None or made):
        raise UsageError("--set needs a CONFIG whose keys it overrides")
    refuse_unknown_script(options["script"])


def _is_factory(target: str) -> bool:
    return ":" in target and not Path(target).is_file()


def _requests(target: str | None, options: dict[str, Any], python: str, machine: Machine) -> Iterator[ParityRequest]:
    asked = {name: options[name] for name in ("nproc", "steps", "wrap", "compiled", "strict")}
    common = {
        **asked,
        "python": python,
        "dtype": options["dtype"] or ("float32" if options["amp"] else ""),
        "accumulate": options["accumulate"] or 0,
        "amp": options["amp"] or "",
        "deadline_s": options["timeout"],
    }
    if target is None:
        yield _script(options["script"], common)
    elif _is_factory(target):
        file = target.rpartition(":")[0]
        if file.endswith(".py") and not Path(file).is_file():
            raise UsageError(f"{target}: no such file: {file}", hint=f"check the spelling: ls -l {pasteable(file)}")
        yield ParityRequest(form=Form.MADE, name=target, make=target, **common)
    else:
        yield from _of_config(Path(target), options, common, machine)


def _script(line: Sequence[str], common: dict[str, Any]) -> ParityRequest:
    argv = (common["python"], *line) if line[0].endswith(".py") else tuple(line)
    own = any("{nproc}" in word for word in line)
    name = next((word for word in line if word.endswith(".py")), line[0])
    return ParityRequest(form=Form.SCRIPT, name=name, argv=argv, own_launch=own, **common)


def _of_config(
    config: Path, options: dict[str, Any], common: dict[str, Any], machine: Machine
) -> Iterator[ParityRequest]:
    if config.suffix == ".py":
        raise UsageError(f"{config} is no CONFIG", hint=f"ups-doctor parity --script {config}")
    described = describe.describe(config, options["overrides"], python=common["python"], child=machine.child)
    stages = [options["stage"]] if options["stage"] else list(described.models) or [""]
    if options["stage"] and options["stage"] not in described.models:
        raise UsageError(f"--stage {options['stage']}: {config} has {', '.join(described.models) or 'no models'}")
    sets = [word for override in described.overrides for word in ("--set", override)]
    for stage in stages:
        argv = [common["python"], "-m", described.module, "parity", str(config), "--steps", str(common["steps"])]
        argv += [*(["--stage", stage] if stage else []), *sets]
        yield ParityRequest(form=Form.ADAPTER, name=f"{config} {stage}".strip(), argv=tuple(argv), **common)


def _refuse_what_was_named(found: Parity) -> None:
    """Raises what the child says of a factory, or of a CONFIG, that cannot be used."""
    if found.refused:
        raise UsageError(found.refused)


def _show(found: Parity, screen: LiveScreen, options: dict[str, Any]) -> None:
    screen.live.clear()
    if options["as_json"]:
        return
    colour = {0: "32", 1: "1;31", 3: "33"}[found.exit_code]
    said = words.headline(found)
    say(f"\033[{colour}m{said}\033[0m" if screen.colour else said, colour=screen.colour)
    for line in page.terminal_lines(found, verbose=options["verbose"]):
        say(line)


def _written(found: Sequence[Parity], options: dict[str, Any], command: str, code: int) -> str:
    try:
        folder = new_folder(options["report_dir"], kind="parity")
        return page.write_report(found, folder, command=command, exit_code=code)
    except OSError as error:
        refused = from_os_error(error, action="cannot write", path=options["report_dir"])
        return f"no report was written: {refused.message}"
