"""Rank 0 makes a file that the other ranks then read, and nothing makes them wait.

What it does: looks at what a block under `rank == 0` writes (torch.save, open(..., "w"), numpy.save, shutil.copy,
urlretrieve, and functions of the project that are given the path and write it) and flags a read of the same path after
the block, by all ranks, where no collective, barrier, lock or polling loop stands between; and a folder that it makes,
into which all ranks write in the same way.

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

from diagnostics.audit.executed import also, home, shown
from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.dataflow.rank_predicates import RankPredicates
from diagnostics.static.dataflow.rank_zero import admits_rank_zero
from diagnostics.static.executed.checkpoints.folders import written_before_made
from diagnostics.static.executed.saved_files import read_while_written
from diagnostics.static.execution.events import Execution
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.own_nodes import statements_of
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import FileKind, ProjectFile
from diagnostics.static.spmd.file_races import FileAccess, asks_for_file, path_uses, synchronises
from diagnostics.static.torch_code.told_values import tells

CODE = "A106"
NAME = "barrier-missing"
SEVERITY = Severity.ERROR
WORDS = ("rank", "get_rank", "local_rank", "is_main_process", "RANK", "LOCAL_RANK", "is_master", "is_main",
         "is_global_zero", "global_rank", "load")  # fmt: skip
CHECKLIST = "what rank 0 prepares is waited for by a barrier"
_PREPARES = re.compile(r"download|pre_?process|prepare_data|tokeni[sz]e|untar|unzip|extractall|build_(?:cache|index)")


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the reads of what rank 0 has just written, with nothing between that waits."""
    yield from also(_after_blocks(file, project), file, project, _run)


def _run(execution: Execution, project: Project) -> Iterator[Violation]:
    for saved, loaded, _ in read_while_written(execution):
        yield violation(
            home(loaded, project),
            loaded.node,
            "every rank reads here what one rank alone has just written, and nothing between makes them wait: they "
            "find no file, an old one, or half of one",
            "dist.barrier() between the two",
            steps=(shown(saved, project, "written by one rank here"),),
            confidence=Confidence.LIKELY,
        )

    if any("mkdir" in (one.text or "") for one in project.audited if one.kind is not FileKind.PYTHON):
        return  # a launch script may have made the folder before
    for made, saved in written_before_made(execution):
        yield violation(
            home(made, project),
            made.node,
            "one rank alone makes this folder, and every rank writes a file into it, with nothing between that makes "
            "them wait: who comes first finds no such directory",
            "let every rank make it, with exist_ok=True, or dist.barrier() between the two",
            steps=(shown(saved, project, "every rank writes into it here"),),
            confidence=Confidence.LIKELY,
        )


def _after_blocks(file: ProjectFile, project: Project) -> Iterator[Violation]:
    for function in project.functions_in(file):
        for block, rest in _blocks(function.syntax):
            if admits_rank_zero(block.test, function, project) is True and not _leaves(block.body):
                yield from _after(file, function, block, rest, project)
            if block.orelse and RankPredicates(project).asks(block.test, function) is not None:
                yield from _slept(file, function, block, rest, project)


def _slept(
    file: ProjectFile, function: Function, block: ast.If, rest: list[ast.stmt], project: Project
) -> Iterator[Violation]:
    """Yields the sleep of the other ranks for as long as rank 0 is hoped to take."""
    sleep = next((one.value for one in block.orelse if isinstance(one, ast.Expr) and isinstance(one.value, ast.Call)
                  and project.name(one.value.func, function) == "time.sleep"), None)  # fmt: skip
    works = any(isinstance(one, ast.Call) and not tells(one) for part in block.body for one in walk(part))
    if sleep is None or not works or _leaves(block.body) or synchronises([*block.body, *rest], function, project):
        return
    yield violation(
        file,
        sleep,
        f"the other ranks sleep for as long as what stands under `{ast.unparse(block.test)}` is hoped to take: where "
        "it takes longer, they go on with what is not there yet",
        "put a barrier in its place: dist.barrier() after the block, on every rank",
        steps=(step(file, block, "only one rank does the work"), step(file, sleep, "nothing is waited for")),
        confidence=Confidence.LIKELY,
        severity=Severity.WARNING,
    )


def _blocks(syntax: ast.AST) -> Iterator[tuple[ast.If, list[ast.stmt]]]:
    """Yields every `if` of a function with the statements that follow it, also outside of the blocks around it."""
    if isinstance(syntax, ast.Lambda):
        return
    waiting: list[tuple[list[ast.stmt], list[ast.stmt]]] = [(list(statements_of(syntax)), [])]
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
    file: ProjectFile, function: Function, block: ast.If, rest: list[ast.stmt], project: Project
) -> Iterator[Violation]:
    written = {one.path: one for one in path_uses(block.body, function, project, writes=True)}
    if synchronises([*block.body, *block.orelse], function, project):
        return
    if not written:
        yield from _prepared(file, block, rest, function, project)
        return
    for statement in rest:
        if isinstance(statement, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)):
            continue
        if synchronises([statement], function, project) or isinstance(statement, (ast.Return, ast.Raise)):
            if isinstance(statement, ast.Return) and not synchronises([statement], function, project):
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
    file: ProjectFile, block: ast.If, rest: list[ast.stmt], function: Function, project: Project
) -> Iterator[Violation]:
    """Yields advice where one rank prepares something, whoever uses it, and nobody waits."""
    calls = [one for part in block.body for one in walk(part) if isinstance(one, ast.Call)]
    made = next((one for one in calls if _PREPARES.search(last_name(one.func))), None)
    if made is not None and rest and not synchronises(rest, function, project):
        yield violation(
            file,
            made,
            f"{ast.unparse(made.func)}() runs on one rank, and nothing makes the others wait for what it prepares",
            "if the others use it: dist.barrier() after the block",
            confidence=Confidence.POSSIBLE,
            severity=Severity.INFO,
        )


def _read(
    file: ProjectFile,
    function: Function,
    block: ast.If,
    nodes: Iterable[ast.AST],
    written: dict[str, FileAccess],
    project: Project,
) -> Iterator[Violation]:
    for use in path_uses(nodes, function, project, writes=False):
        wrote = written.get(use.path)
        if wrote is None:
            continue
        sure = wrote.direct and use.direct
        yield violation(
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


def _asks_for_rank_or_file(statement: ast.stmt, function: Function, project: Project) -> bool:
    """Whether what follows depends on the rank, or on whether the file is there."""
    test = getattr(statement, "test", None)
    if isinstance(statement, ast.Try):
        return True
    if not isinstance(test, ast.expr):
        return False
    return asks_for_file(test) or admits_rank_zero(test, function, project) is not None


def _assigned(statement: ast.stmt) -> Iterator[str]:
    for one in walk(statement):
        if isinstance(one, ast.Assign):
            for target in one.targets:
                if isinstance(target, (ast.Name, ast.Attribute)):
                    yield ast.unparse(target)
