"""`ups-doctor bisect-model`: from a model that fails to the smallest module that does, and a script that shows it."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from diagnostics.adapter import interpreter
from diagnostics.argument_types import PathArgument, PrecisionArgument, refuse_unknown_script
from diagnostics.bisection import place
from diagnostics.bisection.case import WRAPPERS
from diagnostics.bisection.engine import BisectionInterrupted, bisect
from diagnostics.bisection.environments.install import ask_for
from diagnostics.bisection.found import Bisection
from diagnostics.bisection.report.files import shown_path, write_reports
from diagnostics.bisection.report.json_text import json_text
from diagnostics.bisection.report.next_step import next_step
from diagnostics.bisection.report.terminal import outcome_lines
from diagnostics.bisection.report.tries_shown import TriesShown
from diagnostics.bisection.targets import target
from diagnostics.bisection.targets.script_capture import ScriptDiedError
from diagnostics.bisection.targets.script_died import explained
from diagnostics.bisection.tries.oracle import open_tries
from diagnostics.bisection.wanted import BisectionRequest
from diagnostics.command_folder import ScriptCommand
from diagnostics.core.console import ask, say, width_of
from diagnostics.core.errors import UsageError
from diagnostics.machine.contract import Machine
from diagnostics.machine.this import open_machine
from diagnostics.preflight.live_screen import LiveScreen
from diagnostics.report.run_report import RunReport

# Options that are settings of a case, and their names there.
SETTINGS = {name: name for name in (
    "wrapper", "backend", "device", "amp", "compile", "accumulate", "checkpointing", "workers", "threads", "steps",
)} | {"nproc": "world"}  # fmt: skip
MIB = 1 << 20


@click.command("bisect-model", cls=ScriptCommand)
@click.argument("target", required=False, metavar="CONFIG|MODULE:FACTORY")
@click.option("--inputs", metavar="MODULE:MAKE_BATCH", help="Gives a tensor, a tuple (arguments) or a dict (keywords).")
@click.option("--set", "overrides", multiple=True, metavar="KEY=VALUE", help="Override one key of CONFIG.")
@click.option("--stage", default="", help="Which of CONFIG's models; default: each, until one fails.")
@click.option("--nproc", type=click.IntRange(1, 64), help="Ranks; default: 2.")
@click.option("--wrapper", type=click.Choice(WRAPPERS), help="Default: ddp; where that passes, the others.")
@click.option("--backend", type=click.Choice(["gloo", "nccl"]), help="Default: gloo, on a GPU nccl.")
@click.option("--device", metavar="cpu|cuda", help="Default: cpu.")
@click.option("--amp", type=PrecisionArgument(["bfloat16", "float16"]), help="Run under autocast.")
@click.option("--compile", is_flag=True, default=None, help="Run the model through torch.compile.")
@click.option("--accumulate", type=click.IntRange(1), metavar="N", help="Backward passes before an optimizer step.")
@click.option("--checkpointing", is_flag=True, default=None, help="With activation checkpointing.")
@click.option("--workers", type=click.IntRange(0), metavar="N", help="Loader processes that hand the batches over.")
@click.option("--threads", type=click.IntRange(1), metavar="N", help="Threads of a rank.")
@click.option("--steps", type=click.IntRange(1, 1000), metavar="N", help="Default: 2.")
@click.option("--repeat", type=click.IntRange(1), default=1, show_default=True, help="Tries of each case, if flaky.")
@click.option("--deadline", type=click.FloatRange(1), metavar="SECONDS", help="Of one try; default: from healthy ones.")
@click.option("--max-tries", type=click.IntRange(1), metavar="N", help="Stop the search after so many.")
@click.option("--memory", type=click.IntRange(1), metavar="MIB", help="Limit of one rank; default: what is free.")
@click.option("--jobs", type=click.IntRange(1), metavar="N", help="Tries side by side; default: what the cores allow.")
@click.option("--env", "environments", multiple=True, metavar="SPEC", help='Also under "torch==2.9.1"; repeatable.')
@click.option("--yes", is_flag=True, help="Download for --env without asking.")
@click.option("--profile", is_flag=True, help="Keep a trace of the last healthy and of the failing run.")
@click.option("--report-dir", type=PathArgument(), metavar="DIR", help="Default: reports/<time>-bisect/.")
@click.option("--resume", is_flag=True, help="Go on with the bisection that --report-dir holds.")
@click.option("--json", "as_json", is_flag=True, help="Print report.json on stdout, and nothing else.")
@click.option("--python", metavar="PATH", help="The job's Python; default: this one if it has torch, else the active.")
@click.option("-v", "--verbose", is_flag=True, help="Show every try; in a pipe they always are.")
@click.option("--script", multiple=True, metavar="TRAIN.PY [ARGS]...", help="Capture model and batch from this run.")
@click.pass_context
def command(context: click.Context, /, target: str | None, **options: Any) -> None:
    """Finds the smallest module that fails, and what the failure needs.

    MODULE:FACTORY is a class or function without arguments that gives an nn.Module: resnet:make, train.py:Net.
    CONFIG is a file whose trainer hands over its models. --script runs TRAIN.PY and captures model and batch; all
    behind it belongs to it. Your code runs in child processes, many times.
    Exit codes: 0 it does not fail, 1 found, 2 wrong use, 3 undecided.
    """
    _refuse_contradictions(target, options)
    python = interpreter.choose(options["python"], os.environ)
    with (
        place.opened(options["report_dir"], resume=options["resume"]) as (folder, problem),
        open_machine(python) as machine,
        LiveScreen(quiet=options["as_json"], verbose=_is_verbose(options)) as screen,
    ):
        if problem:
            screen.say(f"{problem}; the report goes to {folder}")
        stopped = None
        try:
            wanted = _wanted(context, target, options, folder, python, machine, screen)
            found, report = _bisected(wanted, machine, screen)
        except ScriptDiedError as died:
            screen.waiting_for(f"running {died.script} once more, under watch: it ends before a model is given a batch")
            found, report = explained(died, folder, command=_typed(context))
        except BisectionInterrupted as stop:
            found, report, stopped = stop.found, stop.report, stop
        machine.close()  # before anything is written: a full disk must not leave a child behind
        written = write_reports(report, found, folder)
        _show(found, report, screen, options)
        screen.say(written)
    if stopped is not None:
        if options["as_json"] or next_step(found)[1] != [found.resume]:
            say(f"go on with: {found.resume}", err=True)
        raise stopped
    context.exit(found.exit_code)


def _bisected(wanted: BisectionRequest, machine: Machine, screen: LiveScreen) -> tuple[Bisection, RunReport]:
    shown = TriesShown(screen)
    shown.say(f"bisect-model of {wanted.name}, python {wanted.python}")
    shown.doing("importing torch")
    return bisect(wanted, open_tries(wanted, machine, shown), machine, shown)


def _is_verbose(options: dict[str, Any]) -> bool:
    """Returns whether every try is printed: where no live line shows that it goes on, too."""
    return bool(options["verbose"] or not (options["as_json"] or sys.stderr.isatty()))


def _typed(context: click.Context) -> str:
    return shlex.join(["ups-doctor", "bisect-model", *context.meta["arguments"]])


def _show(found: Bisection, report: RunReport, screen: LiveScreen, options: dict[str, Any]) -> None:
    screen.live.clear()
    if options["as_json"]:
        say(json_text(report, found), nl=False)
        return
    for line in outcome_lines(found, report, colour=screen.colour, width=width_of()):
        say(line, colour=screen.colour)


def _refuse_contradictions(named: str | None, options: dict[str, Any]) -> None:
    if bool(named) == bool(options["script"]):
        raise UsageError(
            "name one model: a MODULE:FACTORY, a CONFIG, or --script TRAIN.PY",
            hint="for example: ups-doctor bisect-model package.model:Net --inputs package.data:make_batch",
        )
    refuse_unknown_script(options["script"])
    factory = named is not None and target.is_factory(named)
    if options["inputs"] and named is not None and not factory:
        raise UsageError("--inputs belongs to MODULE:FACTORY or --script; a CONFIG brings batches of its own")
    if (options["overrides"] or options["stage"]) and (named is None or factory):
        raise UsageError(f"{'--set' if options['overrides'] else '--stage'} needs a CONFIG")
    if options["backend"] == "nccl" and options["device"] in (None, "cpu"):
        raise UsageError("--backend nccl needs --device cuda: NCCL moves no tensors of a CPU")


def _wanted(
    context: click.Context,
    named: str | None,
    options: dict[str, Any],
    folder: Path,
    python: str,
    machine: Machine,
    screen: LiveScreen,
) -> BisectionRequest:
    named_settings = {key: options[name] for name, key in SETTINGS.items() if options[name] is not None}
    if str(named_settings.get("device", "")).startswith("cuda"):
        named_settings.setdefault("backend", "nccl")
    if options["script"]:
        screen.waiting_for(f"running {options['script'][0]} until it trains a model")
    else:
        screen.waiting_for(f"asking about {named}")
    model = target.model_of(
        named,
        options["script"],
        inputs=options["inputs"],
        overrides=options["overrides"],
        stage=options["stage"],
        folder=folder,
        python=python,
        child=machine.child,
    )
    environments = ask_for(
        options["environments"],
        python=python,
        child=machine.child,
        progress=TriesShown(screen),
        confirm=lambda line: _agreed(line, screen, yes=options["yes"]),
        on_cpu=not str(named_settings.get("device", "")).startswith("cuda"),
    )
    return BisectionRequest(
        name=model.name,
        sources=model.sources,
        script=tuple(options["script"]),
        notes=model.notes,
        python=python,
        env=model.env,
        folder=folder,
        named=named_settings,
        as_trained=model.settings,
        repeat=options["repeat"],
        deadline_s=options["deadline"],
        max_tries=options["max_tries"],
        memory_bytes=(options["memory"] or 0) * MIB,
        jobs=options["jobs"],
        profile=options["profile"],
        environments=environments,
        command=_typed(context),
        resume=_resume(context.meta["arguments"], folder),
    )


def _agreed(line: str, screen: LiveScreen, *, yes: bool) -> bool:
    """Returns whether this may be downloaded; where nobody can be asked, only --yes agrees."""
    screen.say(line)
    if yes:
        return True
    if not sys.stdin.isatty():
        screen.say("nothing is downloaded: --yes agrees to it")
        return False
    return ask("go on?")


def _resume(arguments: Sequence[str], folder: Path) -> str:
    """Returns the command that goes on with this bisection."""
    words = list(arguments)
    script = words.index("--script") if "--script" in words else len(words)
    own, rest = [word for word in words[:script] if word != "--resume"], words[script:]
    for at, word in reversed(list(enumerate(own))):  # where it cannot be written, the folder is another one
        name, _, value = word.partition("=")
        if name == "--report-dir" and Path(value or own[at + 1]).absolute() != folder:
            del own[at : at + (1 if value else 2)]
    if not any(word.partition("=")[0] == "--report-dir" for word in own):
        own += ["--report-dir", shown_path(folder)]
    return shlex.join(["ups-doctor", "bisect-model", *own, "--resume", *rest])
