"""Native code crashed a rank: SIGSEGV, SIGBUS, SIGILL, SIGFPE or SIGABRT.

What it does: names the rank, the Python line that called the native code (in the main thread, another thread, or the
thread's starter where it has no Python line), the module that was open, and the library where a core dump tells.

Why it matters: a signal leaves no traceback; launchers print a number and a process id.

Fix: the call at that line: the library's version, and the memory, shapes and devices it is given.
"""

from __future__ import annotations

from diagnostics.core.findings import Confidence, Evidence, Fix
from diagnostics.core.wording import distinct, sentence, signal_name
from diagnostics.diagnosis.match_building import blamed
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.failures.native_crash import (
    NativeCrash,
    child_crash,
    is_fault,
    native_crash,
    writes_mapped,
)
from diagnostics.dynamic.failures.root_exception import root_exception
from diagnostics.dynamic.job.evidence import (
    end_evidence,
    ended_s,
    module_of,
    names_of,
    output_evidence,
    path_evidence,
    primary_failures,
    source_evidence,
)
from diagnostics.dynamic.job.job import Job, JobProcess, SignalSent
from diagnostics.dynamic.job.signal_senders import frames_of, sender_of

CODE = "D210"
NAME = "native-code-crashes"
CLASS = "native-crash"
EXAMINES = AppliesTo.FAILED
SHOWN = 4  # ranks that died elsewhere
_REWRITTEN = Fix(
    text="a file that is mapped (torch.load(mmap=True), numpy.memmap, a shared memory) must not be written over: write "
    "another one and os.replace() it, or load without mmap"
)


def match(job: Job) -> Match | None:
    """Returns the first rank at fault that died of a fault signal, with all that died alike."""
    died = [
        process
        for process in primary_failures(job)
        if is_fault(process.end.signal) and root_exception(job, process) is None
    ]
    if not died:
        return _in_child(job)
    first = min(died, key=lambda one: (not writes_mapped(job, one), ended_s(one)))
    sent = sender_of(job, first)
    if sent is not None and sent.sender_pid == first.pid:
        return _sent_to_itself(job, first, sent)
    crash = native_crash(first)
    top = crash.frames[:1]
    # A mapped file that became shorter kills all that have it mapped, each where it happens to read it.
    mapped = writes_mapped(job, first)
    alike = [
        process
        for process in died
        if process.end.signal == first.end.signal and (mapped or native_crash(process).frames[:1] == top)
    ]
    together = [process for process in alike if native_crash(process).frames[:1] == top]
    apart = [(one, job.line(frame)) for one in alike if one not in together for frame in native_crash(one).frames[:1]]
    others = [line for _, line in apart]
    elsewhere = "".join(f"; {names_of([one])} at {line}" for one, line in apart[:SHOWN])
    locations = distinct([*(job.line(frame) for frame in crash.frames[:3]), *others])
    module = module_of(first)
    return blamed(
        job,
        alike,
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=_title(together, first, crash, locations, module) + elsewhere,
        evidence=_evidence(job, first, crash),
        fix=_REWRITTEN if writes_mapped(job, first) else _fix(crash, locations, module),
        locations=locations,
        module=module,
        confidence=Confidence.CONFIRMED if crash.own_thread else Confidence.LIKELY,
        generic=True,
    )


def _sent_to_itself(job: Job, process: JobProcess, sent: SignalSent) -> Match:
    """Returns the line by which a rank ended itself: a watchdog, an assertion of its own, a test of its handlers."""
    frames, crash = frames_of(job, sent), native_crash(process)
    meanwhile = [job.line(frame) for frame in crash.frames[:2]]
    locations = distinct([*(job.line(frame) for frame in frames[:3]), *meanwhile])
    at = f" at {locations[0]}" if frames else ""
    elsewhere = bool(meanwhile) and meanwhile[0] != locations[0]
    module = "" if elsewhere else module_of(process)
    main = f"; its main thread was at {meanwhile[0]}" if elsewhere else f", in module {module}" if module else ""
    return blamed(
        job,
        [process],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"{sentence(names_of([process]))} ended by {signal_name(sent.signal)}, which it sent to itself{at}{main}",
        evidence=[
            end_evidence(process),
            *path_evidence(job, f"signal {sent.signal} to {sent.target_pid} from process {sent.sender_pid}", frames),
            *(source_evidence(job, frames[0]) if frames else ()),
        ],
        fix=Fix(text=f"see what that line takes for a reason to end the process{at}: a limit that is too short, say"),
        locations=locations,
        module=module,
        confidence=Confidence.CONFIRMED,
        generic=True,
        began_s=sent.at_s,
    )


def _in_child(job: Job) -> Match | None:
    """Returns the crash of a helper that a process at fault waited for, and whose end it complained about."""
    for process in primary_failures(job):
        error = root_exception(job, process)
        child = child_crash(job, process, error) if error is not None else None
        if error is None or child is None:
            continue
        crash = native_crash(child)
        waited = [job.line(frame) for frame in error.frames[:2]]
        locations = distinct([*(job.line(frame) for frame in crash.frames[:2]), *waited])
        called = f", called at {locations[0]}" if crash.frames else ""
        return blamed(
            job,
            [process],
            code=CODE,
            name=NAME,
            failure_class=CLASS,
            title=(
                f"A child process ({child.pid}) of {names_of([process])} died of {signal_name(child.end.signal or 0)}"
                f" in native code{called}; the parent then raised {error.text[:200]}"
            ),
            evidence=[*_evidence(job, child, crash), *path_evidence(job, error.text, error.frames)],
            fix=_fix(crash, locations if crash.frames else (), ""),
            locations=locations,
            confidence=Confidence.CONFIRMED if crash.own_thread else Confidence.LIKELY,
            explains=[child.pid],
            began_s=ended_s(child),
        )
    return None


def _title(
    alike: list[JobProcess], first: JobProcess, crash: NativeCrash, locations: tuple[str, ...], module: str
) -> str:
    who = sentence(names_of(alike))
    name = signal_name(first.end.signal or 0)
    thread = "" if crash.in_main else " in a thread beside the main one"
    if crash.recursion:
        return f"{who} died of {name}: {crash.recursion[0].function} at {locations[0]} calls itself without end"
    library = f" in {crash.library}" if crash.library else ""
    called = f", called at {locations[0]}" if locations and crash.own_thread else ""
    seen = f"; the main thread was at {locations[0]}" if locations and not crash.own_thread else ""
    return (
        f"{who} died of {name} in native code{library}{thread}{called}{f', in module {module}' if module else ''}{seen}"
    )


def _evidence(job: Job, process: JobProcess, crash: NativeCrash) -> list[Evidence]:
    evidence = [end_evidence(process)]
    if crash.frames:
        evidence.extend(source_evidence(job, crash.frames[0]))
    error = process.fault.error if process.fault is not None else ""
    evidence.extend(path_evidence(job, f"faulthandler: {error}", crash.path))
    if process.native:
        evidence.append(Evidence(source="native frames of the core dump", observed="\n".join(process.native[:8])))
    return evidence if len(evidence) > 1 else [*evidence, *output_evidence(process)]


def _fix(crash: NativeCrash, locations: tuple[str, ...], module: str) -> Fix:
    at = f" at {locations[0]}" if locations else ""
    if crash.recursion:
        return Fix(text=f"give the recursion{at} an end, or make it a loop; a raised recursion limit only hides it")
    library = crash.library or "the native library"
    without = f"; take {module} out to confirm" if module else ""
    return Fix(text=f"check what is handed to {library}{at} (pointer, shape, dtype, device) and its version{without}")
