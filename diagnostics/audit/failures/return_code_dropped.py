"""The exit code of a training that is started as a process is dropped.

What it does: flags subprocess.run, call, Popen, os.system and multiprocessing.Process that start a training and whose
exit code nobody looks at, or only to print it; and what os.system gives back where it is taken for an exit code.

Why it matters: a training that crashed in its first second looks like one that ran for a week. The program that
started it goes on to the next stage and ends with code 0.

Bad:

    subprocess.run(["torchrun", "train.py"])

Good:

    subprocess.run(["torchrun", "train.py"], check=True)

What it cannot see: commands that are put together from configuration, and exit codes that another process collects.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.dataflow.value_origins import origins
from diagnostics.static.launch_files.subprocess_commands import argv_text, trains
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.exception_flow import head
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.torch_code.told_values import is_only_told, only_told, tells
from diagnostics.static.torch_code.training_functions import TrainingFunctions

CODE = "A504"
NAME = "return-code-dropped"
SEVERITY = Severity.ERROR
WORDS = ("subprocess", "system", "Popen", "Process", "torchrun", "train", "accelerate", "deepspeed")
CHECKLIST = "exit codes of started trainings are looked at"
_RUNS = {"subprocess.run", "subprocess.call", "os.system"}
_POPEN = "subprocess.Popen"
_PROCESSES = {"multiprocessing.Process", "torch.multiprocessing.Process", "multiprocessing.context.Process"}
_OF_A_RUN = {"CalledProcessError", "SubprocessError", "Exception", "BaseException"}
_READS = {"returncode", "check_returncode", "poll", "exitcode", "check_call", "sentinel"}


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the started trainings whose exit code is lost."""
    for call, function in project.calls_in(file):
        name = project.name(call.func, function)
        if name in _RUNS:
            yield from _run(file, project, call, function, name)
        elif name == _POPEN:
            yield from _popen(file, project, call, function)
        elif name in _PROCESSES or name.endswith(".Process"):
            yield from _process(file, project, call, function)
        elif file.shown in project.files:
            yield from _by_helper(file, project, call, function)


def _by_helper(file: ProjectFile, project: Project, call: ast.Call, function: Function) -> Iterator[Violation]:
    """Yields the calls of a helper that runs a command and gives its exit code back, where they drop it."""
    for target in project.targets(call, function) if isinstance(file.parents.get(call), ast.Expr) else ():
        source = project.file_with(target)
        calls = [one for one in target.nodes_of(ast.Call) if isinstance(one, ast.Call)]
        runs = [one for one in calls if isinstance(source.parents.get(one), ast.Return)
                and project.name(one.func, target) in _RUNS]  # fmt: skip
        given = dict(zip(target.parameters[target.implied :], call.args, strict=False))
        for one in runs:
            named = one.args[0].id if one.args and isinstance(one.args[0], ast.Name) else ""
            command = argv_text(given[named], function, project) if named in given else ""
            if trains(command) and not _checked(one):
                yield violation(
                    file,
                    call,
                    f"{last_name(call.func)}() starts a training ({_short(command)}) and gives its exit code back, "
                    "which is dropped: a failed training passes for a finished one",
                    f"if {last_name(call.func)}(...) != 0: sys.exit(1); or check=True in {target.name}",
                    steps=(step(source, one, "the exit code is given back here"),),
                    confidence=Confidence.LIKELY,
                )


def _run(file: ProjectFile, project: Project, call: ast.Call, function: Function, name: str) -> Iterator[Violation]:
    command = argv_text(call.args[0], function, project) if call.args else ""
    if trains(command) and _checked(call):
        yield from _told_only(file, call, command)
    if not trains(command) or _checked(call):
        return
    if name == "os.system":
        yield from _wait_status(file, project, call, command)
    if not isinstance(file.parents.get(call), ast.Expr) and not only_told(call, function, file):
        return
    if _raises_later(call, function, file):
        return
    fix = "subprocess.run([...], check=True)" if name != "subprocess.run" else "add check=True"
    yield violation(
        file,
        call,
        f"{name}() starts a training ({_short(command)}) and its exit code is dropped: a failed training passes for a "
        "finished one",
        fix,
    )


def _raises_later(call: ast.Call, function: Function, file: ProjectFile) -> bool:
    """Whether the exit code is made an exception further down: `done.check_returncode()`, which returns nothing."""
    kept = file.parents.get(call)
    names = {last_name(one) for one in kept.targets} if isinstance(kept, ast.Assign) else set()
    return any(
        isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute) and one.func.attr == "check_returncode"
        and last_name(one.func.value) in names
        for one in function.nodes_of(ast.Call)
    )  # fmt: skip


def _told_only(file: ProjectFile, call: ast.Call, command: str) -> Iterator[Violation]:
    """Yields the handler that only prints what `check=True` raised, where nothing else in its try tells it."""
    statement: ast.AST | None = call
    while statement is not None and not isinstance(statement, ast.stmt):
        statement = file.parents.get(statement)
    attempt = file.parents.get(statement) if statement is not None else None
    if not isinstance(statement, ast.Expr) or not isinstance(attempt, ast.Try) or attempt.body[-1] is not statement:
        return
    handler = next((one for one in attempt.handlers if one.type is None or last_name(one.type) in _OF_A_RUN), None)
    if handler is None or attempt.orelse or attempt.finalbody or not all(_only_tells(one) for one in handler.body):
        return
    yield violation(
        file,
        handler,
        f"`{head(handler)}` only tells that a training ({_short(command)}) has failed: what started it goes on, "
        "and ends with 0",
        "raise at the end of the handler, or keep the failure and end with sys.exit(1)",
        steps=(
            step(file, call, "check=True raises where the training failed"),
            step(file, handler, "it ends here, in a message"),
        ),
        confidence=Confidence.LIKELY,
    )


def _only_tells(statement: ast.stmt) -> bool:
    if isinstance(statement, (ast.Pass, ast.Continue)):
        return True
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call) and tells(statement.value)


def _popen(file: ProjectFile, project: Project, call: ast.Call, function: Function) -> Iterator[Violation]:
    command = argv_text(call.args[0], function, project) if call.args else ""
    parent = file.parents.get(call)
    if not trains(command) or _is_read(file):
        return
    waits = [one for one in function.own_nodes if _is_wait(one)]
    polled = _polled(file)
    if not waits and polled is not None and not isinstance(parent, ast.Expr):
        yield _dropped(file, call, polled, command, Confidence.LIKELY)
        return
    if not waits and _is_kept(call, file) and file.tree is not None:
        waits = [node for node in walk(file.tree) if _is_wait(node)]
    unread = [one for one in waits if is_only_told(one, file)]
    if isinstance(parent, ast.Expr) or (waits and len(unread) == len(waits)):
        end = unread[0] if unread else call
        yield _dropped(file, call, end, command, Confidence.CONFIRMED if waits else Confidence.LIKELY)


def _dropped(file: ProjectFile, call: ast.Call, end: ast.AST, command: str, sure: Confidence) -> Violation:
    return violation(
        file,
        end,
        f"the exit code of a training that Popen starts ({_short(command)}) is dropped: a failed training passes for a "
        "finished one",
        "if process.wait() != 0: sys.exit(1)",
        steps=(step(file, call, "the training is started"), step(file, end, "its exit code is not looked at")),
        confidence=sure,
    )


def _polled(file: ProjectFile) -> ast.Call | None:
    """Returns the poll() by which a file waits for processes to end."""
    calls = (node for node in walk(file.tree) if isinstance(node, ast.Call)) if file.tree is not None else ()
    return next((one for one in calls if isinstance(one.func, ast.Attribute) and one.func.attr == "poll"
                 and _asks_whether_done(one.func, file)), None)  # fmt: skip


def _is_read(file: ProjectFile) -> bool:
    """Whether something in a file looks at an exit code, and not only to tell it."""
    if not file.words & _READS or file.tree is None:
        return False
    reads = [node for node in walk(file.tree) if isinstance(node, ast.Attribute) and node.attr in _READS]
    return not reads or any(not is_only_told(one, file) and not _asks_whether_done(one, file) for one in reads)


def _asks_whether_done(read: ast.Attribute, file: ProjectFile) -> bool:
    """Whether `poll()` is only asked whether a process still runs: `child.poll() is None`."""
    call = file.parents.get(read)
    test = file.parents.get(call) if isinstance(call, ast.Call) and read.attr == "poll" else None
    return isinstance(test, ast.Compare) and isinstance(test.comparators[0], ast.Constant) and (
        test.comparators[0].value is None
    )  # fmt: skip


def _wait_status(file: ProjectFile, project: Project, call: ast.Call, command: str) -> Iterator[Violation]:
    """Yields a wait status that is taken for an exit code: of 256, which means 1, the process keeps the low byte."""
    status: ast.AST = call
    for leave, where in _exits(project, file):
        given = leave.args[0]
        given = given.values[-1] if isinstance(given, ast.BoolOp) and isinstance(given.op, ast.And) else given
        if any(one is call for one, _ in origins(given, where, project)):
            yield violation(
                file,
                leave,
                f"os.system gives back a wait status, 256 for exit code 1, and {ast.unparse(leave.func)}() keeps its "
                f"low byte, which is 0: a failed training ({_short(command)}) ends with success",
                "subprocess.run([...], check=True), or sys.exit(os.waitstatus_to_exitcode(status))",
                steps=(step(file, status, "the training is started"), step(file, leave, "256 becomes 0 here")),
            )


def _exits(project: Project, file: ProjectFile) -> Iterator[tuple[ast.Call, Function]]:
    for call, where in project.calls_in(file):
        if project.name(call.func, where) in ("sys.exit", "exit", "os._exit") and call.args:
            yield call, where


def _is_kept(call: ast.Call, file: ProjectFile) -> bool:
    """Whether an object keeps the process: others wait for it."""
    around = file.parents.get(call)
    return isinstance(around, ast.Assign) and isinstance(around.targets[0], ast.Attribute)


def _is_wait(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "wait"


def _process(file: ProjectFile, project: Project, call: ast.Call, function: Function) -> Iterator[Violation]:
    code = project.fact(TrainingFunctions)
    target = next((one for one in code.started(call, function) if id(one) in code.training), None)
    joins = [one for one in function.nodes_of(ast.Call) if isinstance(one, ast.Call) and _joins(one)]
    if target is None or not joins or _is_read(file) or _is_answered(function, joins[-1]):
        return
    if _works_on_it(call, function, joins[-1], file):
        return
    yield violation(
        file,
        joins[-1],
        f"join() says nothing of how {target.name} ended, and nothing reads exitcode: one that crashed passes for "
        "one that finished",
        "after join(): if process.exitcode != 0: sys.exit(1); or start the ranks with torch.multiprocessing.spawn",
        steps=(
            step(file, call, f"a process runs {target.name}, which trains"),
            step(file, joins[-1], "its end is waited for, its exit code is not looked at"),
        ),
    )


def _works_on_it(call: ast.Call, function: Function, join: ast.Call, file: ProjectFile) -> bool:
    """Whether the parent makes its own results of what the process was given: what is missing is missed there.

    Of a folder that results are read from, of an object that collects them; what is only called says nothing.
    """
    given = {
        node.id
        for value in (*call.args, *(one.value for one in call.keywords))
        for node in walk(value)
        if isinstance(node, ast.Name) and node.id not in ("self", "cls")
    }
    return any(
        isinstance(one, (ast.Assign, ast.AugAssign, ast.Return)) and one.value is not None
        and any(isinstance(node, ast.Name) and node.id in given for node in walk(one.value))
        for one in function.nodes_of((ast.Assign, ast.AugAssign, ast.Return))
        if _comes_after(one, join, file)
    )  # fmt: skip


def _comes_after(node: ast.AST, join: ast.Call, file: ProjectFile) -> bool:
    """Whether a statement stands behind another one, and in no other arm of a branch around that."""
    child: ast.AST | None = join
    while (around := file.parents.get(child) if child is not None else None) is not None:
        if isinstance(around, ast.If) and any(inner is node for inner in walk(around)):
            arm = around.body if child in around.body else around.orelse
            return any(inner is node for part in arm for inner in walk(part)) and _is_later(node, join)
        child = around
    return _is_later(node, join)


def _is_later(node: ast.AST, join: ast.Call) -> bool:
    return getattr(node, "lineno", 0) > (join.end_lineno or join.lineno)


def _is_answered(function: Function, join: ast.Call) -> bool:
    """Whether the parent takes an answer from a pipe or queue afterwards: without it, it goes no further."""
    return any(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("recv", "get")
        and not node.args and node.lineno > join.lineno
        for node in function.own_nodes
    )  # fmt: skip


def _joins(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr == "join" and not call.args


def _checked(call: ast.Call) -> bool:
    return any(
        one.arg is None or (one.arg == "check" and not (isinstance(one.value, ast.Constant) and not one.value.value))
        for one in call.keywords
    )


def _short(command: str) -> str:
    text = " ".join(command.split())
    return text if len(text) <= 50 else text[:47] + "..."
