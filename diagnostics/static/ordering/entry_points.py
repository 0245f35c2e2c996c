"""Where a project starts to run: scripts, functions given to launchers, and functions that nobody in it calls. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from enum import StrEnum

from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project


class EntryPoint(StrEnum):
    """How sure it is that a function is where a process starts."""

    SCRIPT = "script"  # a file with a main block, or whose top level does the work
    LAUNCHED = "launched"  # given to a launcher: each rank starts here
    UNCALLED = "uncalled"  # nobody in the project calls it: others may, after they have done anything


_LAUNCHERS = {"spawn": 0, "start_processes": 0, "notebook_launcher": 0, "launch": 0, "run_with_torchrun": 0}
_RUNNERS = {"Fire", "run", "typer_run", "main_wrapper"}
_MAINS = {"main", "command", "entry", "record", "group"}


def passed_function(call: ast.Call, function: Function, project: Project) -> Iterator[Function]:
    """Yields the functions that `call` runs in this process though it only names them: `app.run(main)`."""
    if last_name(call.func) not in _RUNNERS or not call.args:
        return
    name = project.name(call.func, function)
    if name in ("fire.Fire", "absl.app.run", "typer.run", "tyro.cli", "jsonargparse.CLI"):
        yield from project.meant(call.args[0], function)


def launched(project: Project) -> Iterator[Function]:
    """Yields the functions that launchers start in processes of their own."""
    for name, at in _LAUNCHERS.items():
        for call, function in project.calls_by_name.get(name, ()):
            values = call.args[at : at + 1] + [one.value for one in call.keywords if one.arg in ("fn", "function")]
            for value in values:
                yield from project.meant(value, function)
    for call, function in project.calls_by_name.get("Process", ()):
        for keyword in call.keywords:
            if keyword.arg == "target":
                yield from project.meant(keyword.value, function)
    for call, function in project.calls_by_name.get("", ()):  # elastic_launch(config, main)(...)
        if isinstance(call.func, ast.Call) and last_name(call.func.func) == "elastic_launch":
            for value in call.func.args[1:2]:
                yield from project.meant(value, function)


def entries(project: Project, interesting: Iterable[Function]) -> Iterator[tuple[Function, EntryPoint]]:
    """Yields where processes start, among functions from which something interesting can be reached."""
    chosen = list(interesting)
    known = {id(one) for one in chosen}
    seen: set[int] = set()
    for one in launched(project):
        if id(one) in known and id(one) not in seen:
            seen.add(id(one))
            yield one, EntryPoint.LAUNCHED
    for one in chosen:
        if id(one) not in seen and _starts_script(one):
            seen.add(id(one))
            yield one, EntryPoint.SCRIPT
    for one in chosen:
        if id(one) not in seen and not isinstance(one.syntax, (ast.Module, ast.Lambda)) and not project.callers(one):
            seen.add(id(one))
            yield one, EntryPoint.SCRIPT if _is_main(one) else EntryPoint.UNCALLED


def _starts_script(function: Function) -> bool:
    return isinstance(function.syntax, ast.Module) and any(
        isinstance(one, ast.Call) for one in function.nodes_of(ast.Call)
    )


def _is_main(function: Function) -> bool:
    return any(last_name(one) in _MAINS for one in getattr(function.syntax, "decorator_list", ()))
