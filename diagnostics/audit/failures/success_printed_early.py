"""Success is printed whether or not the training succeeded.

What it does: flags messages like "training completed successfully" in a `finally` block or an exception handler around
a training, and between the start of a process and the wait for it.

Why it matters: the last line of the log is what people read and what scripts search for. A message that a failed run
prints, too, hides the failure for days.

Bad:

    try:
        train()
    finally:
        print("training completed successfully")

Good:

    train()
    print("training completed successfully")

What it cannot see: messages that are put together elsewhere, and status files written by other programs.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.exception_flow import head, tries_of, unconditional_calls
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project, per_project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.torch_code.training_functions import TrainingFunctions

CODE = "A503"
NAME = "success-printed-early"
SEVERITY = Severity.WARNING
WORDS = ("finally", "except", "try", "wait", "communicate")
_CLAIM = re.compile(
    r"\bsuccess(?:ful(?:ly)?)?\b|\b(?:training|run|job|experiment|fine-?tuning|pre-?training|model)\b[^.]{0,20}"
    r"\b(?:complete[d]?|finished|done|succeeded)\b",
    re.IGNORECASE,
)
_DOUBT = re.compile(
    r"\b(?:not|un\w+|fail\w*|error|without|before|until|never|if|abort\w*|interrupt\w*|no|exit\w*|crash\w*|once|caught|catch\w*|raised|expected"
    r"|saved?|saving|wrote|written|uploaded)\b|unsuccess",
    re.IGNORECASE,
)
_BEGUN = re.compile(r"start|launch|spawn|submit|begin|began|creat|connect|setup|set up", re.IGNORECASE)
_POPEN = "subprocess.Popen"
_TELLS = re.compile(r"^(?:print|info|warning|log\w*|write|write_text|echo|rank_zero_info|print_rank_0|dump|critical)$")


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the claims of success that a failed training makes, too."""
    for function in project.functions_in(file):
        for block in tries_of(function):
            trained = project.fact(TrainingFunctions).training_call(block.body, function)
            if trained is not None:
                yield from _claims(file, block.finalbody, trained, "finally")
                for handler in block.handlers:
                    yield from _claims(file, handler.body, trained, head(handler))
        for statements in _blocks(function):
            yield from _before_wait(file, statements, function, project)


def _blocks(function: Function) -> Iterator[list[ast.stmt]]:
    """Yields the blocks of statements of a function."""
    for node in (function.syntax, *function.nodes_of((ast.stmt, ast.ExceptHandler, ast.match_case))):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list):
                yield block


def _before_wait(file: ProjectFile, block: list[ast.stmt], function: Function, project: Project) -> Iterator[Violation]:
    """Yields what is claimed while a process that was started runs on, and is waited for only later in the block."""
    for at, statement in enumerate(block):
        if not isinstance(statement, ast.Assign) or not _starts(statement.value, function, project):
            continue
        name = ast.unparse(statement.targets[0])
        waits = [number for number, one in enumerate(block) if number > at and _uses(one, name)]
        between = block[at + 1 : waits[0]] if waits else []
        wait = next((one for one in walk(block[waits[0]]) if _waits(one, name)), None) if waits else None
        for call in unconditional_calls(between):
            text = _claim(call)
            if text and wait is not None and not _BEGUN.search(text):
                yield violation(
                    file,
                    call,
                    f'"{text}" is said while the process still runs: nobody has waited for it',
                    f"say it after {name}.wait() has given 0",
                    steps=(
                        step(file, statement, "the process is started"),
                        step(file, call, f'"{text}"'),
                        step(file, wait, "only here it is waited for"),
                    ),
                    confidence=Confidence.LIKELY,
                )


def _starts(value: ast.expr, function: Function, project: Project) -> bool:
    if project.called(value, function) == _POPEN:
        return True
    giving = _giving_processes(project)
    return bool(giving) and isinstance(value, ast.Call) and any(
        id(target) in giving for target in project.targets(value, function)
    )  # fmt: skip


@per_project
def _giving_processes(project: Project) -> frozenset[int]:
    """Identities of the functions that give back a process that they start."""
    return frozenset(
        id(function)
        for function in project.functions
        for one in function.nodes_of(ast.Return)
        if isinstance(one, ast.Return) and one.value is not None and project.called(one.value, function) == _POPEN
    )


def _uses(node: ast.AST, name: str) -> bool:
    return any(isinstance(one, (ast.Name, ast.Attribute)) and ast.unparse(one) == name for one in walk(node))


def _waits(node: ast.AST, name: str) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("wait", "communicate")
        and ast.unparse(node.func.value) == name
    )


def _claims(file: ProjectFile, statements: list[ast.stmt], trained: ast.Call, where: str) -> Iterator[Violation]:
    if where.startswith("except") and re.search(r"Stop|Finish|Done|Complete|Interrupt", where):
        return
    for call in unconditional_calls(statements):
        text = _claim(call)
        if text:
            yield violation(
                file,
                call,
                f'"{text}" is said in `{where}`: also where the training failed',
                "say it after the training, outside of the try, or in its `else`",
                steps=(
                    step(file, trained, "an error of the training ..."),
                    step(file, call, f'... comes to `{where}`, which says "{text}"'),
                ),
                confidence=Confidence.CONFIRMED if re.search("success", text, re.IGNORECASE) else Confidence.LIKELY,
            )


def _claim(call: ast.Call) -> str:
    if not _TELLS.match(last_name(call.func)):
        return ""
    parts = [one.value for one in walk(call) if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    text = " ".join(" ".join(parts).split())
    return text[:60] if _CLAIM.search(text) and not _DOUBT.search(text) else ""
