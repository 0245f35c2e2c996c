"""Each rank is given a port of its own to meet the others on.

What it does: flags MASTER_PORT that is computed from the rank, in the environment that a launcher written in Python
makes for its ranks, and in loops of shell scripts.

Why it matters: the ranks wait for each other at different doors. Rank 0 listens on one port, the others ask on another
one until their timeout.

Bad:

    env = {**os.environ, "RANK": str(rank), "MASTER_PORT": str(port + rank)}

Good:

    env = {**os.environ, "RANK": str(rank), "MASTER_PORT": str(port)}

What it cannot see: numbers that are a rank by another name.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Severity
from diagnostics.static.launch_files.command_locations import place
from diagnostics.static.launch_files.embedded_scripts import embedded_scripts
from diagnostics.static.launch_files.launcher_commands import launcher_calls
from diagnostics.static.launch_files.process_counts import loop_name
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import last_name
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import FileKind, ProjectFile

CODE = "A614"
NAME = "master-port-differs"
SEVERITY = Severity.ERROR
READS = frozenset({FileKind.SHELL, FileKind.YAML, FileKind.PYTHON})
WORDS = ("MASTER_PORT",)
CHECKLIST = "all ranks of a job get one port"
_RANKS = ("RANK", "LOCAL_RANK")


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the ports that differ from rank to rank."""
    if file.kind is FileKind.PYTHON:
        yield from _in_python(file)
        return
    for script in embedded_scripts(file):
        for ran in script.commands:
            loops = {loop_name(one) for one in ran.around if one.kind == "for"}
            port, rank = ran.environment.get("MASTER_PORT"), ran.environment.get("RANK")
            used = {name for name in loops if isinstance(port, str) and re.search(rf"\b{re.escape(name)}\b", port)}
            if isinstance(rank, str):
                used &= {name for name in loops if re.search(rf"\b{re.escape(name)}\b", rank)}
            else:
                used &= {"RANK"}
            if used and launcher_calls(ran.words):
                line, column = place(file, ran)
                name = min(used)
                yield Violation(
                    file=file,
                    line=line,
                    column=column,
                    title=f"MASTER_PORT is {port}, and {name} is the rank: each rank waits on a port of its own",
                    fix="one MASTER_PORT for all ranks, set in front of the loop",
                )


def _in_python(file: ProjectFile) -> Iterator[Violation]:
    for node in walk(file.tree) if file.tree is not None else ():
        pairs = dict(_pairs(node))
        port = pairs.get("MASTER_PORT")
        ranks = [pairs[name] for name in _RANKS if name in pairs]
        if port is None or not ranks:
            continue
        shared = _counted(port) & frozenset[str]().union(*(_names(one) for one in ranks))
        if shared:
            name = min(shared)
            yield violation(
                file,
                port,
                f"MASTER_PORT is {ast.unparse(port)}, and {name} is the rank: each rank waits on a port of its own",
                "one MASTER_PORT for all ranks",
                steps=(step(file, ranks[0], f"{name} is the rank"), step(file, port, "the port is computed from it")),
            )


def _pairs(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Yields the entries of {"RANK": ...} and of dict(os.environ, RANK=...)."""
    if isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                yield key.value, value
    elif isinstance(node, ast.Call) and last_name(node.func) in ("dict", "update"):
        yield from ((one.arg, one.value) for one in node.keywords if one.arg is not None)


def _names(value: ast.AST) -> frozenset[str]:
    return frozenset(node.id for node in walk(value) if isinstance(node, ast.Name)) - {"str", "int"}


def _counted(value: ast.AST) -> frozenset[str]:
    """Returns the names that a sum or an f-string in `value` is made of."""
    sums = [node for node in walk(value) if isinstance(node, (ast.BinOp, ast.JoinedStr))]
    return frozenset[str]().union(*(_names(one) for one in sums))
