"""A training that a signal ends leaves with code 0, and what started it takes that for a finished training.

What it does: flags `sys.exit(0)` in the handler of SIGTERM, SIGUSR1 and the like, or under the flag that the handler
sets, in a training whose exit status its shell script looks at: `if`, `&&`, `||`, `$?`; or whose container is started
anew only after a failure.

Why it matters: the batch system sends a signal before the time limit and before it takes a node away. The handler saves
a checkpoint and leaves with 0, so the script writes its mark for a finished job and starts no further one: the training
ends there, by the exit code well. srun does not end the other tasks of a step either where one leaves with 0.

Bad:

    def handler(number, frame):
        save()
        sys.exit(0)

Good:

    def handler(number, frame):
        save()
        sys.exit(128 + number)

What it cannot see: scripts in other repositories. A handler that has itself started again, by scontrol or sbatch, may
leave with 0; torchrun ends with a code of its own where a signal comes.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from diagnostics.audit.rule import ExplanationStep, Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.dataflow.rank_guards import conditions
from diagnostics.static.launch_files.command_locations import place
from diagnostics.static.launch_files.embedded_scripts import Script, embedded_scripts
from diagnostics.static.launch_files.launched_program import training
from diagnostics.static.launch_files.shell_commands import CommandContext
from diagnostics.static.launch_files.shell_exit_status import status_of
from diagnostics.static.launch_files.status_flow import Fate
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.exception_flow import exits_with_success, unconditional_calls
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.import_closure import ImportClosures
from diagnostics.static.program.project import Project, per_project
from diagnostics.static.program.project_file import FileKind, ProjectFile

CODE = "A630"
NAME = "handler-exits-with-success"
SEVERITY = Severity.ERROR
WORDS = ("signal",)
CHECKLIST = "an interrupted training ends with another exit code than a finished one"
_SIGNAL = re.compile(r"\bSIG(?:TERM|USR1|USR2|HUP|CONT)\b")
_AGAIN = re.compile(
    r"requeue|sbatch|resubmit|relaunch|reschedul|scontrol|bsub|qsub|mark_preempting|execv", re.IGNORECASE
)
_RESTARTS = re.compile(r"\brestartPolicy:\s{0,9}OnFailure\b")
# They end with a code of their own where a signal comes, whatever their ranks leave with.
_OWN_CODE = frozenset(["torchrun", "launch", "accelerate", "deepspeed"])
_DEPTH = 2


@dataclass(frozen=True, slots=True)
class _Asked:
    """Where the exit status of a training is looked at, and how."""

    program: ProjectFile
    step: ExplanationStep


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the exits that say success of what was interrupted."""
    if file.is_test:
        return
    for call, function in project.calls_in(file):
        if last_name(call.func) not in ("signal", "add_signal_handler") or len(call.args) < 2:
            continue
        if not _is_about_end(call.args[0], function, project):
            continue
        for handler in project.meant(call.args[1], function):
            asked = _asked_about(project.file_with(handler), project)
            found = next(_exits(handler, project), None) if asked is not None else None
            if asked is not None and found is not None and not _starts_again(handler, project, _DEPTH):
                where, node = found
                yield violation(
                    project.file_with(where),
                    node,
                    f"a training that a signal interrupts ends with code 0 here, and {asked.step.text}: it counts as "
                    "finished",
                    "leave with another code: sys.exit(128 + signum)",
                    steps=(step(file, call, "the handler is set here"), asked.step),
                    confidence=Confidence.LIKELY,
                )


def _is_about_end(given: ast.expr, function: Function, project: Project) -> bool:
    """Whether a signal is one by which a training is ended."""
    if _SIGNAL.search(ast.unparse(given)):
        return True
    values: list[ast.expr] = []
    if isinstance(given, ast.Name) and given.id in function.parameters:
        values = [one for one, _ in project.arguments(given.id, function)]
    elif isinstance(given, ast.Name):  # for one in (signal.SIGTERM, signal.SIGUSR1)
        values = [one.iter for one in function.nodes_of(ast.For)
                  if isinstance(one, ast.For) and ast.unparse(one.target) == given.id]  # fmt: skip
    return any(_SIGNAL.search(ast.unparse(one)) for one in values)


def _exits(handler: Function, project: Project) -> Iterator[tuple[Function, ast.Call]]:
    """Yields the exits with code 0 that a handler comes to, or that the flag it sets leads to."""
    yield from _always(handler, project, _DEPTH)
    flags = {ast.unparse(one) for one in _set_in(handler)}
    for function in project.functions_in(handler.source) if flags else ():
        file = project.file_with(function)
        for call in function.nodes_of(ast.Call):
            if exits_with_success(call, function, project):
                told = [one for test in conditions(call, function, file) for one in walk(test)]
                if any(isinstance(one, (ast.Name, ast.Attribute)) and ast.unparse(one) in flags for one in told):
                    yield function, call  # type: ignore[misc] # a Call
                elif _is_again(function):
                    return


def _always(function: Function, project: Project, depth: int) -> Iterator[tuple[Function, ast.Call]]:
    if isinstance(function.syntax, ast.Lambda):
        calls = [one for one in walk(function.syntax.body) if isinstance(one, ast.Call)]
    else:
        calls = list(unconditional_calls(getattr(function.syntax, "body", [])))
    for call in calls:
        if exits_with_success(call, function, project):
            yield function, call
        elif depth:
            for target in project.targets(call, function):
                yield from _always(target, project, depth - 1)


def _set_in(handler: Function) -> Iterator[ast.expr]:
    """Yields what a handler sets to True."""
    for node in handler.nodes_of(ast.Assign):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and node.value.value is True:
            yield from node.targets


def _starts_again(function: Function, project: Project, depth: int) -> bool:
    """Whether something has the job started anew, which then needs no exit code for it."""
    if _is_again(function):
        return True
    calls = [one for one in function.nodes_of(ast.Call) if isinstance(one, ast.Call)] if depth else []
    return any(_starts_again(target, project, depth - 1) for one in calls for target in project.targets(one, function))


def _is_again(function: Function) -> bool:
    return bool(_AGAIN.search(ast.unparse(function.syntax)))


def _asked_about(file: ProjectFile, project: Project) -> _Asked | None:
    """Returns where the exit status of a program that has a file in it is looked at."""
    closures = project.fact(ImportClosures)
    return next((one for one in _all_asked(project) if file.shown in {one.program.shown, *closures.closure(
        one.program.shown)}), None)  # fmt: skip


@per_project
def _all_asked(project: Project) -> tuple[_Asked, ...]:
    found = []
    for file in project.audited:
        if file.kind not in (FileKind.SHELL, FileKind.YAML) or not file.text:
            continue
        restarts = file.kind is FileKind.YAML and _RESTARTS.search(file.text) is not None
        if file.kind is FileKind.YAML and not restarts:
            continue
        for script in embedded_scripts(file):
            for ran in script.commands:
                trained = training(ran, file, project)
                if trained is None or trained.program is None or any(one.kind in _OWN_CODE for one in trained.layers):
                    continue
                how = _how(ran, script, restarts=restarts)
                if how:
                    at = file.place(place(file, ran)[0])
                    found.append(_Asked(trained.program, ExplanationStep(place=at, text=how)))
    return tuple(found)


def _how(ran: CommandContext, script: Script, *, restarts: bool) -> str:
    """Returns who goes by the exit status of a command, in words, "" where nobody does."""
    if restarts:
        return "only a failure has the container started anew"
    if any(one.words[:1] == ("trap",) and re.search(r"TERM|USR|HUP", " ".join(one.words)) for one in script.commands):
        return ""  # the script is told of the signal, too
    flow = status_of(ran, script.commands)
    return f"the script goes by the exit status: {flow.how}" if flow.fate is Fate.HANDLED and flow.how else ""
