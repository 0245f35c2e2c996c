"""Rank 0 makes a file that the other ranks then read, and nothing makes them wait.

What it does: looks at what a block under `rank == 0` writes (torch.save, open(..., "w"), numpy.save, shutil.copy,
urlretrieve, and functions of the project that are given the path and write it) and flags a read of the same path after
the block, by all ranks, where no collective, barrier, lock or polling loop stands between.

Why it matters: the others get there first. They find no file, or half of one: FileNotFoundError, EOFError, a truncated
archive, and on a lucky day nothing. What a missing barrier can do is this, and let ranks run apart until a collective
times out. What it cannot do: it causes no segmentation fault, no wrong gradients, no out-of-memory; collectives order
themselves, and after init_process_group, wrapping a model and before destroy_process_group no barrier is needed. Look
elsewhere for these.

Bad:

    if rank == 0:
        torch.save(vocabulary, path)
    vocabulary = torch.load(path)

Good:

    if rank == 0:
        torch.save(vocabulary, path)
    dist.barrier()
    vocabulary = torch.load(path)

What it cannot see: paths that are spelled in two ways, and files written before the job is started.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from diagnostics.analysis.audited_file import AuditedFile
from diagnostics.analysis.flow_files import Function, last_name
from diagnostics.analysis.project import Project
from diagnostics.analysis.rank_zero import lets_in_first
from diagnostics.findings import Confidence, Severity
from diagnostics.hits import Hit, hit, step

CODE = "A106"
NAME = "barrier-missing"
SEVERITY = Severity.ERROR
WORDS = ("rank", "get_rank", "local_rank", "is_main_process", "RANK", "LOCAL_RANK", "is_master", "is_main",
         "is_global_zero", "global_rank")  # fmt: skip
CHECKLIST = "what rank 0 prepares is waited for by a barrier"
# Where in a call the path stands that is written.
_WRITERS = {"torch.save": 1, "numpy.save": 0, "numpy.savez": 0, "numpy.savez_compressed": 0, "shutil.copy": 1,
            "shutil.copyfile": 1, "shutil.copytree": 1, "urllib.request.urlretrieve": 1, "pickle.dump": 1,
            "json.dump": 1, "torch.hub.download_url_to_file": 1}  # fmt: skip
_READERS = {"torch.load": 0, "numpy.load": 0, "pandas.read_csv": 0, "pandas.read_parquet": 0, "json.load": 0,
            "pickle.load": 0, "numpy.memmap": 0, "h5py.File": 0, "datasets.load_from_disk": 0,
            "safetensors.torch.load_file": 0}  # fmt: skip
_WRITE_METHODS = {"write_text", "write_bytes", "to_csv", "to_parquet", "save_to_disk"}
_READ_METHODS = {"read_text", "read_bytes"}
_WAITS = re.compile(
    r"barrier|wait|sync|all_?reduce|all_?gather|broadcast|scatter|reduce|sleep|(?<![bB])lock|_first|rendezvous"
    r"|init_process|DistributedDataParallel|DDP|fully_shard|FSDP|launch|spawn|Process|poll|exit",
    re.IGNORECASE,
)
_PREPARES = re.compile(r"download|pre_?process|prepare_data|tokeni[sz]e|untar|unzip|extractall|build_(?:cache|index)")
_WAIT_METHODS = {"join", "prepare", "result"}  # without arguments, of an accelerator, of a future


@dataclass(frozen=True, slots=True)
class _Use:
    """One call that writes or reads a path."""

    path: str
    call: ast.Call
    direct: bool


def check(file: AuditedFile, project: Project) -> Iterator[Hit]:
    """Yields the reads of what rank 0 has just written, with nothing between that waits."""
    for function in project.functions_in(file):
        for block, rest in _blocks(function.syntax):
            if lets_in_first(block.test, function, project) is True and not _leaves(block.body):
                yield from _after(file, function, block, rest, project)


def _blocks(syntax: ast.AST) -> Iterator[tuple[ast.If, list[ast.stmt]]]:
    """Yields every `if` of a function with the statements that follow it, also outside of the blocks around it."""
    if isinstance(syntax, ast.Lambda):
        return
    waiting: list[tuple[list[ast.stmt], list[ast.stmt]]] = [(list(getattr(syntax, "body", ())), [])]
    while waiting:
        statements, following = waiting.pop()
        for number, one in enumerate(statements):
            rest = [*statements[number + 1 :], *following]
            if isinstance(one, ast.If):
                yield one, rest
            if not isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                # What follows in a loop's next round is not looked at.
                inner = [] if isinstance(one, ast.Try) else rest
                for part in ("body", "finalbody"):
                    waiting.append((list(getattr(one, part, ()) or ()), inner))


def _leaves(body: list[ast.stmt]) -> bool:
    return isinstance(body[-1], (ast.Return, ast.Raise, ast.Continue, ast.Break))


def _after(
    file: AuditedFile, function: Function, block: ast.If, rest: list[ast.stmt], project: Project
) -> Iterator[Hit]:
    written = {one.path: one for one in _uses(block.body, function, project, writes=True)}
    if _waits([*block.body, *block.orelse], function, project):
        return
    if not written:
        yield from _prepared(file, block, rest, function, project)
        return
    for statement in rest:
        if isinstance(statement, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)):
            continue
        if _waits([statement], function, project) or isinstance(statement, (ast.Return, ast.Raise)):
            if isinstance(statement, ast.Return) and not _waits([statement], function, project):
                yield from _read(file, function, block, [statement], written, project)
            return
        if _asks_for_rank_or_file(statement, function, project):
            return
        found = list(_read(file, function, block, [statement], written, project))
        if found:
            yield found[0]
            return
        for changed in _assigned(statement):
            written = {path: one for path, one in written.items() if changed not in re.findall(r"[\w.]+", path)}


def _prepared(
    file: AuditedFile, block: ast.If, rest: list[ast.stmt], function: Function, project: Project
) -> Iterator[Hit]:
    """Yields advice where one rank prepares something, whoever uses it, and nobody waits."""
    calls = [one for part in block.body for one in ast.walk(part) if isinstance(one, ast.Call)]
    made = next((one for one in calls if _PREPARES.search(last_name(one.func))), None)
    if made is not None and rest and not _waits(rest, function, project):
        yield hit(
            file,
            made,
            f"{ast.unparse(made.func)}() runs on one rank, and nothing makes the others wait for what it prepares",
            "if the others use it: dist.barrier() after the block",
            confidence=Confidence.POSSIBLE,
            severity=Severity.INFO,
        )


def _read(
    file: AuditedFile,
    function: Function,
    block: ast.If,
    nodes: Iterable[ast.AST],
    written: dict[str, _Use],
    project: Project,
) -> Iterator[Hit]:
    for use in _uses(nodes, function, project, writes=False):
        wrote = written.get(use.path)
        if wrote is None:
            continue
        sure = wrote.direct and use.direct
        yield hit(
            file,
            use.call,
            f"{ast.unparse(use.call.func)}() reads {use.path}, which `{ast.unparse(block.test)}` lets one rank write "
            f"at {file.place(wrote.call.lineno)}, and nothing makes the others wait for it",
            "put a barrier between: dist.barrier() after the block",
            steps=(
                step(file, block, "only one rank enters"),
                step(file, wrote.call, f"it writes {use.path}"),
                step(file, use.call, "all ranks read it; the others come here at once"),
            ),
            confidence=Confidence.CONFIRMED if sure else Confidence.LIKELY,
        )


def _uses(nodes: Iterable[ast.AST], function: Function, project: Project, *, writes: bool) -> Iterator[_Use]:
    for node in nodes:
        for call in (one for one in ast.walk(node) if isinstance(one, ast.Call)):
            path = _path(call, function, project, writes=writes)
            if path is not None:
                yield _Use(_text(path), call, direct=True)
                continue
            for argument, target, name in _handed_on(call, function, project):
                inner = (one for one in target.own_nodes if isinstance(one, ast.Call))
                texts = {_text(found) for one in inner if (found := _path(one, target, project, writes=writes))}
                if name in texts:
                    yield _Use(_text(argument), call, direct=False)


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


def _waits(nodes: Iterable[ast.AST], function: Function, project: Project, depth: int = 2) -> bool:
    """Whether something in these nodes may make ranks wait for each other."""
    for node in nodes:
        for one in ast.walk(node):
            if isinstance(one, ast.Call):
                if _may_wait(one, function, project):
                    return True
                if any(_calls_wait(target, project, depth) for target in project.targets(one, function)):
                    return True
            elif isinstance(one, ast.While) and _asks_for_file(one.test):
                return True
    return False


def _may_wait(call: ast.Call, function: Function, project: Project) -> bool:
    if isinstance(call.func, ast.Attribute) and call.func.attr in _WAIT_METHODS:
        return call.func.attr == "prepare" or not call.args
    return _WAITS.search(last_name(call.func)) is not None or project.communicates(call, function)


def _calls_wait(function: Function, project: Project, depth: int) -> bool:
    calls = [one for one in function.own_nodes if isinstance(one, ast.Call)]
    if any(_may_wait(one, function, project) for one in calls):
        return True
    return depth > 0 and any(
        _calls_wait(target, project, depth - 1) for one in calls for target in project.targets(one, function)
    )


def _asks_for_rank_or_file(statement: ast.stmt, function: Function, project: Project) -> bool:
    """Whether what follows depends on the rank, or on whether the file is there."""
    test = getattr(statement, "test", None)
    if isinstance(statement, ast.Try):
        return True
    if not isinstance(test, ast.expr):
        return False
    return _asks_for_file(test) or lets_in_first(test, function, project) is not None


def _asks_for_file(test: ast.expr) -> bool:
    words = {last_name(one.func) for one in ast.walk(test) if isinstance(one, ast.Call)}
    return bool(words & {"exists", "isfile", "is_file", "isdir", "is_dir"})


def _assigned(statement: ast.stmt) -> Iterator[str]:
    for one in ast.walk(statement):
        if isinstance(one, ast.Assign):
            for target in one.targets:
                if isinstance(target, (ast.Name, ast.Attribute)):
                    yield ast.unparse(target)
