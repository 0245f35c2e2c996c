"""`ups-doctor inspect CONFIG|module:factory`: runs a few steps of a model in a child and says what source cannot."""

from __future__ import annotations

import os
import re
import shlex
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from diagnostics.adapter import describe, interpreter
from diagnostics.adapter.description import JobDescription
from diagnostics.core.console import say
from diagnostics.core.errors import UsageError
from diagnostics.core.findings import Verdict
from diagnostics.inspection.engine import Inspected, InspectionRequest, Target, inspect, usage_error
from diagnostics.inspection.terminal import facts, module_lines, summary
from diagnostics.machine.this import open_machine
from diagnostics.preflight.live_screen import LiveScreen
from diagnostics.report import terminal

FACTORY = re.compile(r"(?P<module>[^:]+):(?P<name>[A-Za-z_][\w.]*)$")


@click.command("inspect")
@click.argument("target", metavar="CONFIG|MODULE:FACTORY")
@click.option("--inputs", metavar="MODULE:MAKE_BATCH", help="Gives a tensor, a tuple (arguments) or a dict (keywords).")
@click.option("--set", "overrides", multiple=True, metavar="KEY=VALUE", help="Override one key of CONFIG.")
@click.option(
    "--steps", type=click.IntRange(1, 100), default=3, show_default=True, help="Each with a batch of its own."
)
@click.option("--device", default="", metavar="cpu|cuda|cuda:1", help="Default: where the factory puts the model.")
@click.option("--timeout", type=click.FloatRange(1), default=120.0, show_default=True, help="Seconds for all of it.")
@click.option("--json", "as_json", is_flag=True, help="Print the verdict as JSON on stdout, and nothing else.")
@click.option("--python", metavar="PATH", help="The job's Python; default: this one if it has torch, else the active.")
@click.option("--strict", is_flag=True, help="Warnings count as errors.")
@click.option("-v", "--verbose", is_flag=True, help="Show every check, the modules' dtypes and devices, tracebacks.")
@click.pass_context
def command(context: click.Context, /, target: str, **options: Any) -> None:
    """Runs a few steps of a model in a child, and says what mutates, shares, or is never used in it.

    MODULE:FACTORY is a class or function without arguments that gives an nn.Module: resnet:make, train.py:Net.
    CONFIG is a file whose trainer hands over its models. Nothing is written beside your files.
    Exit codes: 0 nothing found, 1 errors found, 2 wrong use, 3 the child crashed or gave no answer.
    """
    python = interpreter.choose(options["python"], os.environ)
    again = _command_line(target, options)
    with (
        open_machine(python) as machine,
        LiveScreen(quiet=options["as_json"], verbose=options["verbose"]) as screen,
        tempfile.TemporaryDirectory(prefix="ups-doctor-inspect-") as folder,
    ):
        wanted = InspectionRequest(
            python=python,
            folder=Path(folder),
            steps=options["steps"],
            device=options["device"],
            deadline_s=options["timeout"],
            rerun=again,
        )
        if FACTORY.match(target) and not Path(target).is_file():
            if options["overrides"]:
                raise UsageError("--set needs a CONFIG whose keys it overrides")
            named = Target(name=_shown(target), factory=target, inputs=_inputs(options["inputs"]))
            wanted = replace(wanted, targets=(named,))
        else:
            screen.waiting_for(f"asking the trainer about {target}")
            wanted = replace(wanted, job=_described(target, options, python, machine.child))
        screen.waiting_for(f"running {options['steps']} steps of {_shown(target)}")
        inspected = inspect(wanted, machine.child)
    _refuse(inspected, options)
    code = inspected.verdict.exit_code(strict=options["strict"])
    _show(inspected, screen, target, options, code, again)
    context.exit(code)


def _described(target: str, options: dict[str, Any], python: str, child: Any) -> JobDescription:
    if options["inputs"]:
        raise UsageError("--inputs belongs to MODULE:FACTORY; a CONFIG's trainer makes its own batches")
    path = Path(target)
    if path.suffix == ".py":
        raise UsageError(
            f"{target} is no CONFIG: name what builds the model in it", hint=f"ups-doctor inspect {target}:make_model"
        )
    if not path.exists() and path.suffix not in (".yaml", ".yml", ".json", ".toml"):
        raise UsageError(
            f"{target}: neither a file nor MODULE:FACTORY",
            hint="ups-doctor inspect package.model:Net --inputs package.data:make_batch",
        )
    return describe.describe(path, options["overrides"], python=python, child=child)


def _inputs(inputs: str | None) -> str:
    if inputs and not FACTORY.match(inputs):
        raise UsageError(f"--inputs {inputs}: a MODULE:NAME was expected", hint="for example: --inputs data:make_batch")
    return inputs or ""


def _shown(target: str) -> str:
    """Returns "resnet.Net" for resnet:Net and for models/resnet.py:Net."""
    found = FACTORY.match(target)
    if found is None or Path(target).is_file():
        return target
    module = found["module"]
    return f"{Path(module).stem if module.endswith('.py') else module}.{found['name']}"


def _command_line(target: str, options: dict[str, Any]) -> str:
    words = ["ups-doctor", "inspect", target]
    words += ["--inputs", options["inputs"]] if options["inputs"] else []
    words += [word for override in options["overrides"] for word in ("--set", override)]
    words += ["--device", options["device"]] if options["device"] else []
    return shlex.join(words)


def _refuse(inspected: Inspected, options: dict[str, Any]) -> None:
    """Raises what the child says of a factory or batch that cannot be used."""
    for model in inspected.models:
        if model.refusal is not None:
            raise usage_error(model.refusal, verbose=options["verbose"])


def _show(
    inspected: Inspected, screen: LiveScreen, target: str, options: dict[str, Any], code: int, command_line: str
) -> None:
    verdict = inspected.verdict
    if options["as_json"]:
        measured = {name: facts(seen) for name, seen in inspected.seen}
        first, *rest = verdict.outcomes
        whole = replace(first, measured={**first.measured, "models": measured})
        shown = Verdict(outcomes=(whole, *rest), seconds=verdict.seconds)
        say(terminal.verdict_json(shown, exit_code=code, command=command_line))
    else:
        lines = list(_lines(inspected, verbose=options["verbose"], colour=screen.colour))
        for line in [*lines, *([""] if lines else [])]:
            say(line, colour=screen.colour)
    for note in dict.fromkeys(model.note for model in inspected.models if model.note):
        screen.say(note)
    screen.say(summary(inspected, _shown(target)))


def _lines(inspected: Inspected, *, verbose: bool, colour: bool) -> Iterator[str]:
    for outcome in inspected.verdict.outcomes:
        if verbose or outcome.findings or outcome.undecided:
            yield from terminal.outcome_lines(outcome, verbose=verbose, colour=colour)
    if verbose:
        for name, seen in inspected.seen:
            yield ""
            yield from module_lines(name, seen)
