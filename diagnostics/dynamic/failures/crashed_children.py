"""A child that died of a fault while its parent waited for it: the parent's exception only tells of it. Pure."""

from __future__ import annotations

import re

from diagnostics.core.wording import signal_name
from diagnostics.dynamic.failures.native_crash import is_fault
from diagnostics.dynamic.failures.root_exception import Origin
from diagnostics.dynamic.job.evidence import PASSED_ON, ended_s
from diagnostics.dynamic.job.job import Case, Part, ProcessStory

SLACK_S = 0.5  # an end is noticed later than it happened


def crashed_child(case: Case, story: ProcessStory, error: Origin) -> ProcessStory | None:
    """Returns the child of `story` that died of a fault signal before `error`, where the error tells of its end.

    It does by its type (a broken pool, a failed command) or by the child's signal or code in its message.
    """
    children = [
        one
        for one in case.children_of(story)
        if is_fault(one.end.signal)
        and one.part not in (Part.DATA_WORKER, Part.RANK)
        and one.ended_by in ("", "unknown")
        and ended_s(one) <= error.at_s + SLACK_S
    ]
    told = [one for one in children if PASSED_ON.search(error.type) or _names(error.text, one)]
    return min(told, key=ended_s, default=None)


def _names(text: str, child: ProcessStory) -> bool:
    """Whether a text names the signal of a child, as -11, 139, SIGSEGV or "signal 11", or its process."""
    number = child.end.signal or 0
    forms = rf"-{number}|{128 + number}|{signal_name(number)}|signal:? {number}|{child.pid}"
    return bool(re.search(rf"(?<![\w.])(?:{forms})(?![\w.])", text))
