"""The line that made a thread, child or queue, found in the source from the line that started it. Pure."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from diagnostics.core.frame import Frame
from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.dynamic.job.process_queries import user_frames_of
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.exception_flow import spans


def creation_site(job: Job, path: Sequence[Frame]) -> tuple[str, ...]:
    """Returns the line that made what the innermost frame starts: `t = Thread(...)` of `t.start()`; () elsewhere."""
    if not path:
        return ()
    source = job.sources.file(path[0].file)
    nodes = list(walk(source.tree)) if source.tree is not None else []
    started = {
        ast.unparse(node.func.value)
        for node in nodes
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "start"
        if spans(node, path[0].line) and not isinstance(node.func.value, ast.Call)
    }
    made = [
        node.lineno
        for node in nodes
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)
        if any(ast.unparse(target) in started for target in node.targets)
    ]
    near = max((line for line in made if line <= path[0].line), default=max(made, default=None))
    return () if near is None else (job.line(Frame(file=path[0].file, line=near, function="")),)


def lines_in_files_of(job: Job, process: JobProcess, pattern: re.Pattern[str]) -> tuple[str, ...]:
    """Returns the lines that fit, in the user's files of a process's call paths; no comments, no imports."""
    events = process.agent.events if process.agent is not None else ()
    paths = [*(event.path for event in events), *process.stacks]
    return lines_in(
        job, dict.fromkeys(frame.file for path in paths for frame in user_frames_of(process, path)), pattern
    )


def lines_in(job: Job, files: Sequence[str] | dict[str, None], pattern: re.Pattern[str]) -> tuple[str, ...]:
    """Returns the locations of the lines of these files that fit `pattern`; no comments, no imports."""
    return tuple(
        job.line(Frame(file=file, line=number, function=""))
        for file in files
        if "/site-packages/" not in file
        for number, text in enumerate(job.sources.file(file).lines, 1)
        if not text.lstrip().startswith(("#", "import ", "from ")) and pattern.search(text)
    )


def in_loop(job: Job, frame: Frame) -> bool:
    """Whether a line is in a loop of its function, or of its file outside of functions."""
    source = job.sources.file(frame.file)
    function = source.function_at(frame.line)
    waiting: list[ast.AST] = list(function.body if function is not None else source.tree.body if source.tree else [])
    while waiting:
        node = waiting.pop()
        if not spans(node, frame.line):
            continue
        if isinstance(node, ast.For | ast.AsyncFor | ast.While):
            return True
        waiting.extend(one for name in ("body", "orelse", "finalbody", "handlers") for one in getattr(node, name, []))
    return False
