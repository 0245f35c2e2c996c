"""Which lines of a job seem to keep memory, for signatures about memory that ran out. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from diagnostics.core.frame import Frame
from diagnostics.dynamic.job.job import Case, ProcessStory
from diagnostics.dynamic.job.job_sources import user_files
from diagnostics.static.torch_code.retained_objects import kept_objects

LARGE_SHARE = 0.1  # of all memory: an allocation of this size needs no leak to fail


def leak_frames(case: Case, story: ProcessStory, near: Sequence[Frame] = ()) -> tuple[Frame, ...]:
    """Returns the lines that keep what each iteration made, those in the files of the path `near` first."""
    close = {frame.file for frame in near}
    found = [
        (not kept.graph, name not in close, Frame(file=name, line=kept.line, function=kept.what))
        for name, file in user_files(case, story)
        for kept in kept_objects(file)
    ]
    return tuple(frame for *_, frame in sorted(found, key=lambda one: one[:2]))


def is_small_request(asked: float | None, total: float | None) -> bool:
    """Whether a failed allocation was so small that something else must have filled the memory."""
    return asked is not None and bool(total) and asked < LARGE_SHARE * float(total or 0)
