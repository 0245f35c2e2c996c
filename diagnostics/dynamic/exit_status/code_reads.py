"""What comes of the exit code that a line of a Python program read, or was handed. Pure."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from diagnostics.dynamic.exit_status.failure_flow import FailureFlow
from diagnostics.dynamic.exit_status.value_carriers import Consequence
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.exception_flow import spans
from diagnostics.static.program.functions import last_name
from diagnostics.static.program.source_file import SourceFile

_ATTRIBUTES = ("returncode", "exitcode")
_STARTS = frozenset(["Popen", "run", "call", "check_call", "check_output", "getstatusoutput", "getoutput", "system",
                     "popen", "spawn", "spawnv", "spawnvp", "spawnvpe", "posix_spawn", "posix_spawnp", "start", "fork",
                     "create_subprocess_exec", "create_subprocess_shell"])  # fmt: skip
_GIVING = {
    "wait": ("wait", "poll"), "poll": ("wait", "poll"), "call": ("call",), "close": ("close",),
    "getstatusoutput": ("getstatusoutput",), "system": ("system",),
    "waitpid": ("waitpid", "wait", "wait3", "wait4", "waitid"),
}  # fmt: skip


def code_leads_to(
    source: SourceFile,
    line: int,
    how: str,
    sources: Sequence[SourceFile],
    starts: Sequence[tuple[SourceFile, int, str]] = (),
) -> Consequence:
    """Returns what comes of a code that was read or handed over at a line of one of a program's files.

    Where the source does not tell, something is done with it. `starts` are the lines that started the child where no
    other start of theirs ended well, each with what is called there on the way ("" for the start itself): to come there
    again is no answer.
    """
    if source.tree is None:
        return Consequence.ACTED_ON
    on_line = [node for node in walk(source.tree) if spans(node, line) and _is_meant(node, how)]
    if not on_line:
        return Consequence.ACTED_ON
    begun = [
        node
        for file, at, called in starts
        for node in walk(file.tree or ast.Pass())
        if isinstance(node, ast.Call) and spans(node, at) and last_name(node.func) in ((called,) if called else _STARTS)
    ]
    again = [*(node for node in on_line if isinstance(node, ast.Call)), *begun] if starts else []
    flow = FailureFlow([source, *sources], again=again)
    paired = [target for node in on_line if how == "waitpid" for target in _status_targets(source, node)]
    return flow.of_names(paired) if paired else flow.of_values(on_line)


def _status_targets(source: SourceFile, call: ast.AST) -> list[ast.expr]:
    """Returns the names that take the status where the pid, which comes first, has a name of its own."""
    return [
        target
        for node in walk(source.tree or ast.Pass())
        if isinstance(node, ast.Assign) and node.value is call
        for one in node.targets
        if isinstance(one, ast.Tuple | ast.List)
        for target in one.elts[1:]
    ]


def _is_meant(node: ast.AST, how: str) -> bool:
    if how in _ATTRIBUTES:
        return isinstance(node, ast.Attribute) and node.attr == how
    return isinstance(node, ast.Call) and last_name(node.func) in _GIVING.get(how, (how,))
