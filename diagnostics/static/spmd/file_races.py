"""Which paths calls write and read, also through functions of the project that are given the path. Pure.

Whether something in a piece of code may make the ranks wait for each other, or for a file.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project

_WAITS = re.compile(
    r"barrier|wait|sync|all_?reduce|all_?gather|broadcast|scatter|reduce|sleep|(?<![bB])lock|_first|rendezvous"
    r"|init_process|DistributedDataParallel|DDP|fully_shard|FSDP|launch|spawn|(?-i:\bProcess\b)|start_processes|poll|exit",
    re.IGNORECASE,
)
_WAIT_METHODS = {"join", "prepare", "result"}  # without arguments, of an accelerator, of a future

# Where in a call the path stands that is written.
_WRITERS = {"torch.save": 1, "numpy.save": 0, "numpy.savez": 0, "numpy.savez_compressed": 0, "shutil.copy": 1,
            "shutil.copyfile": 1, "shutil.copytree": 1, "urllib.request.urlretrieve": 1, "pickle.dump": 1,
            "json.dump": 1, "torch.hub.download_url_to_file": 1}  # fmt: skip
_READERS = {"torch.load": 0, "numpy.load": 0, "pandas.read_csv": 0, "pandas.read_parquet": 0, "json.load": 0,
            "pickle.load": 0, "numpy.memmap": 0, "h5py.File": 0, "datasets.load_from_disk": 0,
            "safetensors.torch.load_file": 0}  # fmt: skip
_WRITE_METHODS = {"write_text", "write_bytes", "to_csv", "to_parquet", "save_to_disk"}
_READ_METHODS = {"read_text", "read_bytes"}


@dataclass(frozen=True, slots=True)
class FileAccess:
    """One call that writes or reads a path."""

    path: str
    call: ast.Call
    direct: bool


def path_uses(nodes: Iterable[ast.AST], function: Function, project: Project, *, writes: bool) -> Iterator[FileAccess]:
    """Yields the calls in some nodes that write a path, or those that read one."""
    for node in nodes:
        for call in (one for one in walk(node) if isinstance(one, ast.Call)):
            path = _path(call, function, project, writes=writes)
            if path is not None:
                yield FileAccess(_text(path), call, direct=True)
                continue
            for argument, target, name in _handed_on(call, function, project):
                inner = (one for one in target.nodes_of(ast.Call) if isinstance(one, ast.Call))
                texts = {_text(found) for one in inner if (found := _path(one, target, project, writes=writes))}
                if name in texts:
                    yield FileAccess(_text(argument), call, direct=False)
            yield from (
                FileAccess(one, call, direct=False) for one in _shared_paths(call, function, project, writes=writes)
            )


def _shared_paths(call: ast.Call, function: Function, project: Project, *, writes: bool) -> Iterator[str]:
    """Yields the paths a called function uses that mean the same here: its module's names, its object's attributes."""
    for target in project.targets(call, function):
        method = isinstance(call.func, ast.Attribute) and target.parameters[:1] in (("self",), ("cls",))
        receiver = ast.unparse(call.func.value) if method and isinstance(call.func, ast.Attribute) else ""
        for inner in (one for one in target.nodes_of(ast.Call) if isinstance(one, ast.Call)):
            found = _path(inner, target, project, writes=writes)
            text = _text(found) if found is not None else ""
            if receiver and text.startswith(("self.", "cls.")):
                yield receiver + text[text.index(".") :]
            elif target.file == function.file and _of_module(text, (target, function), project):
                yield text
            elif target.file != function.file and _of_module(text, (target,), project):
                yield f"{project.dotted_of(target.file)}.{text}"


def _of_module(name: str, functions: tuple[Function, ...], project: Project) -> bool:
    module = project.module_of(functions[0].source)
    local = any(name in one.parameters or name in one.assigned for one in functions if one is not module)
    return name in module.assigned and not local


def _handed_on(call: ast.Call, function: Function, project: Project) -> Iterator[tuple[ast.expr, Function, str]]:
    """Yields (argument, function called, name of the parameter) of a call of one function of the project."""
    targets = project.targets(call, function)
    if len(targets) != 1 or any(isinstance(one, ast.Starred) for one in call.args):
        return
    target = targets[0]
    shift = 1 if target.owner is not None and target.parameters[:1] in (("self",), ("cls",)) else 0
    for name, argument in zip(target.parameters[shift:], call.args, strict=False):
        yield argument, target, name
    for keyword in call.keywords:
        if keyword.arg in target.parameters:
            yield keyword.value, target, keyword.arg


def _path(call: ast.Call, function: Function, project: Project, *, writes: bool) -> ast.expr | None:
    """Returns what a call writes or reads: the expression of its path."""
    name = project.name(call.func, function)
    at = (_WRITERS if writes else _READERS).get(name)
    if at is not None and at < len(call.args):
        return call.args[at]
    if name == "open" and call.args and _opens(call, writes=writes):
        return call.args[0]
    if isinstance(call.func, ast.Attribute) and not name:
        if call.func.attr in ("to_csv", "to_parquet", "save_to_disk"):
            return call.args[0] if writes and call.args else None
        if call.func.attr in (_WRITE_METHODS if writes else _READ_METHODS):
            return call.func.value
    return None


def _opens(call: ast.Call, *, writes: bool) -> bool:
    modes = [*call.args[1:2], *(one.value for one in call.keywords if one.arg == "mode")]
    mode = str(modes[0].value) if modes and isinstance(modes[0], ast.Constant) else "" if modes else "r"
    return mode[:1] in ("w", "x") if writes else mode[:1] == "r" and "+" not in mode


def _text(value: ast.expr) -> str:
    """Returns the text of a path; str(p) and Path(p) are p."""
    while isinstance(value, ast.Call) and last_name(value.func) in ("str", "Path", "fspath") and len(value.args) == 1:
        value = value.args[0]
    return ast.unparse(value)


def synchronises(nodes: Iterable[ast.AST], function: Function, project: Project, depth: int = 2) -> bool:
    """Whether something in these nodes may make ranks wait for each other."""
    for node in nodes:
        for one in walk(node):
            if isinstance(one, ast.Call):
                if _may_wait(one, function, project):
                    return True
                if any(_calls_wait(target, project, depth) for target in project.targets(one, function)):
                    return True
            elif isinstance(one, ast.While) and asks_for_file(one.test):
                return True
    return False


def _may_wait(call: ast.Call, function: Function, project: Project) -> bool:
    if isinstance(call.func, ast.Attribute) and call.func.attr in _WAIT_METHODS:
        return call.func.attr == "prepare" or not call.args
    return _WAITS.search(last_name(call.func)) is not None or project.communicates(call, function)


def _calls_wait(function: Function, project: Project, depth: int) -> bool:
    calls = [one for one in function.nodes_of(ast.Call) if isinstance(one, ast.Call)]
    if any(_may_wait(one, function, project) for one in calls):
        return True
    return depth > 0 and any(
        _calls_wait(target, project, depth - 1) for one in calls for target in project.targets(one, function)
    )


def asks_for_file(test: ast.expr) -> bool:
    """Whether a test asks if a file is there."""
    words = {last_name(one.func) for one in walk(test) if isinstance(one, ast.Call)}
    return bool(words & {"exists", "isfile", "is_file", "isdir", "is_dir"})
