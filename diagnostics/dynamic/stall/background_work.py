"""Which function of a waiting rank hands work to a thread: what that work raised is what the rank waits for. Pure."""

from __future__ import annotations

from diagnostics.core.frame import Frame
from diagnostics.dynamic.job.job import Job
from diagnostics.static.program.ast_walk import walk


def hands_over(job: Job, frame: Frame, outermost: Frame) -> bool:
    """Whether the function of a frame names the one with which the stack of a thread begins: submit(self._write)."""
    function = job.sources.file(frame.file).function_at(frame.line)
    wanted = outermost.function.rpartition(".")[2]
    if function is None or wanted.startswith("<"):
        return False
    return wanted in (getattr(node, "id", getattr(node, "attr", "")) for node in walk(function))
