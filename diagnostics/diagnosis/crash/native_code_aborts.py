"""Native code gave up by itself: an uncaught C++ exception, a failed check, or a damaged heap.

What it does: reads the C library's own last words ("terminate called after throwing", "double free", "Assertion
failed") of a rank that died of SIGABRT or SIGSEGV, and names the Python line that called the native code.

Why it matters: these words stand far above the launcher's summary, and "terminate called without an active exception"
after finished work looks the same.

Fix: catch the C++ exception where it is raised, or correct who wrote past the end of a buffer.
"""

from __future__ import annotations

import re

from diagnostics.core.findings import Confidence, Evidence, Fix
from diagnostics.core.wording import distinct, sentence, signal_name
from diagnostics.diagnosis.match_building import blamed
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.failures.native_crash import is_fault, native_crash
from diagnostics.dynamic.failures.root_exception import root_exception
from diagnostics.dynamic.job.evidence import (
    end_evidence,
    ended_s,
    module_of,
    names_of,
    path_evidence,
    primary_failures,
    source_evidence,
    written_by,
)
from diagnostics.dynamic.job.job import Job

CODE = "D211"
NAME = "native-code-aborts"
CLASS = "native-crash"
EXAMINES = AppliesTo.FAILED

_THROWN = re.compile(
    r"terminate called after throwing an instance of '([^'\n]{1,200})'(?:\s+what\(\):\s+([^\n]{0,300}))?"
)
_HEAP = re.compile(
    r"(?:double free or corruption|free\(\): invalid (?:pointer|size|next size)|malloc\(\): [\w ()-]{3,60}"
    r"|corrupted (?:size vs\. prev_size|double-linked list)|munmap_chunk\(\): invalid pointer"
    r"|malloc_consolidate\(\): [\w ]+|realloc\(\): invalid [\w ]+|\*\*\* stack smashing detected \*\*\*"
    r"|free\(\): double free detected[\w ]*)[^\n]{0,80}"
)
# Collectives that disagree, a lost peer, and no memory have signatures of their own.
_OTHERS = re.compile(r"'(?:gloo::|c10::Dist|std::bad_alloc)")
_ASSERTED = re.compile(r"^[^\n]{0,300}: Assertion [`'][^\n]{1,300}' failed\.", re.MULTILINE)


def match(job: Job) -> Match | None:
    """Returns the first rank at fault that left the C library's last words."""
    for process in sorted(primary_failures(job), key=ended_s):
        words = (
            _last_words(written_by(job, process))
            if is_fault(process.end.signal) and root_exception(job, process) is None
            else None
        )
        if words is None:
            continue
        said, meaning, fix = words
        crash = native_crash(process)
        locations = distinct([job.line(frame) for frame in crash.frames[:3]])
        at = f" at {locations[0]}" if locations else ""
        module = module_of(process)
        return blamed(
            job,
            [process],
            code=CODE,
            name=NAME,
            failure_class=CLASS,
            title=f"{sentence(names_of([process]))} died of {signal_name(process.end.signal or 0)}{at}: {meaning}",
            evidence=[
                end_evidence(process),
                Evidence(source=f"output of process {process.pid}", observed=said),
                *(source_evidence(job, crash.frames[0]) if crash.frames else ()),
                *path_evidence(job, "faulthandler", crash.path),
            ],
            fix=Fix(text=f"{fix}{at}"),
            locations=locations,
            module=module,
            confidence=Confidence.CONFIRMED if crash.own_thread else Confidence.LIKELY,
        )
    return None


def _last_words(output: str) -> tuple[str, str, str] | None:
    """Returns what was written, what it means, and what helps."""
    thrown = [one for one in _THROWN.finditer(output) if not _OTHERS.search(one[0])]
    if thrown:
        kind, what = thrown[-1][1], (thrown[-1][2] or "").strip()
        meaning = f"uncaught C++ exception {kind}{f' ({what})' if what else ''}"
        return thrown[-1][0], meaning, "catch it in the native code, or mend what it complains about in the call"
    if heap := _HEAP.search(output):
        meaning = f"the heap was damaged ({heap[0].strip()}), maybe earlier than at the line that noticed"
        fix = "look for native code that frees twice or writes past a buffer (AddressSanitizer), first in the call"
        return heap[0], meaning, fix
    if asserted := _ASSERTED.search(output):
        return (
            asserted[0],
            f"a check in native code failed: {asserted[0].strip()}",
            "give the native code what it checks",
        )
    return None
