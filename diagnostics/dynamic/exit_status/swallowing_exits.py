"""A `with` over the job's own context manager that may have swallowed what came out of a training loop in it. Pure."""

from __future__ import annotations

import ast

from diagnostics.core.frame import Frame
from diagnostics.dynamic.exit_status.caught_types import RaisedType
from diagnostics.dynamic.exit_status.own_context_managers import own_manager
from diagnostics.dynamic.failures.masked_errors import MaskedError, left_forward, left_module
from diagnostics.dynamic.failures.training_code import CONTROL, trained_in
from diagnostics.dynamic.job.job import ExceptionRecord, Job, JobProcess
from diagnostics.dynamic.job.process_kinds import test_runner
from diagnostics.static.program.exception_flow import catching, in_training_loop, withs_around
from diagnostics.static.program.functions import last_name


def swallowed_by_exit(job: Job, process: JobProcess) -> MaskedError | None:
    """Returns what came out of a model and, as it seems, went no further than such a `with`; None where nothing did."""
    raised = left_forward(process) if not process.failed and not test_runner(process.argv) else None
    left = None if raised is None or CONTROL.search(raised.type) else swallowing_exit(job, process, raised)
    if left is None:
        return None
    missing = f"what comes after {process.steps} optimizer steps" if process.steps else "no optimizer step was made"
    return MaskedError(
        process=process, raised=raised, hiding=left, missing=missing, certain=False, module=left_module(process)
    )


def swallowing_exit(job: Job, process: JobProcess, raised: ExceptionRecord) -> Frame | None:
    """Returns the line of `__exit__` that gives back what may be true, for a `with` around the loop that was left.

    None where a handler stands further in, and where the `with` is a part of the loop's body: then it went on.
    """
    trained_by, left = trained_in(job, process), False
    kind = RaisedType(names=frozenset(["Exception", "BaseException", raised.type.rpartition(".")[2]]), whole=False)
    for frame in raised.user_path:
        source = job.sources.file(frame.file)
        left |= in_training_loop(source, frame.line, trained_by)
        handler = catching(source, frame.line)
        for block in withs_around(source, frame.line):
            if handler is not None and handler.lineno > block.lineno:
                break
            if not left or in_training_loop(source, block.lineno, trained_by):
                continue
            for item in block.items:
                call = item.context_expr
                name = last_name(call.func) if isinstance(call, ast.Call) else ""
                manager = own_manager(job, frame.file, name, kind)
                if manager is not None and manager.lines:
                    return Frame(file=manager.file, line=manager.lines[0], function="__exit__")
        if handler is not None:
            return None
    return None
