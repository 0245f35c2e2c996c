"""A rank caught its failure and ended with exit code 0.

What it does: where the job says 0, takes exceptions that were logged, printed or swallowed, and blames one only where
work is missing: fewer optimizer steps than another rank, none at all, or a training loop that it cut short. Also an
uncaught exception behind `os._exit(0)` in a `finally` or an exit handler. Names the line that failed, then the one
that hid it.

Why it matters: a scheduler counts the run as done, and the next stage takes a model that was never trained.

Bad:

    except Exception:
        logging.exception("training failed")
        sys.exit(0)

Good:

    except Exception:
        logging.exception("training failed")
        raise
"""

from __future__ import annotations

from diagnostics.core.failure_classes import JobOutcome
from diagnostics.core.findings import Confidence, Evidence, Fix
from diagnostics.core.frame import Frame
from diagnostics.core.wording import distinct, sentence
from diagnostics.diagnosis.match_building import blamed
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.exit_status.handed_over import handing_over
from diagnostics.dynamic.exit_status.swallowing_exits import swallowed_by_exit
from diagnostics.dynamic.failures.masked_errors import (
    LOOP_MISSING,
    SAVE_MISSING,
    MaskedError,
    hidden_error,
    left_module,
)
from diagnostics.dynamic.failures.root_exception import locations_of, of_raised
from diagnostics.dynamic.failures.unasked_results import unasked_in_pool
from diagnostics.dynamic.job.evidence import names_of, path_evidence, source_evidence
from diagnostics.dynamic.job.job import ExceptionSource, Job, JobProcess
from diagnostics.dynamic.job.job_sources import job_sources
from diagnostics.static.program.exception_flow import calls_of_attribute

CODE = "D401"
NAME = "failure-hidden-in-rank"
CLASS = "masked-exit"
EXAMINES = AppliesTo.SUCCEEDED


def match(job: Job) -> Match | None:
    """Returns the first error among the ranks that was hidden though work is missing."""
    hidden = [
        found
        for process in job.ranks
        if (found := swallowed_by_exit(job, process) or hidden_error(job, process)) is not None
    ]
    hidden = hidden or [
        MaskedError(process=process, raised=raised, hiding=None, missing=LOOP_MISSING, certain=False)
        for process, raised in unasked_in_pool(job)
    ]
    if not hidden:
        return None
    first = min(hidden, key=lambda one: (one.raised is None, one.raised.at_s if one.raised is not None else 0.0))
    alike = [one.process for one in hidden if one.frames[:1] == first.frames[:1]]
    failing = locations_of(job, of_raised(job, first.process, first.raised)) if first.raised is not None else ()
    failing = failing or _calls(job, first)
    hiding = job.line(first.hiding) if first.hiding is not None else ""
    unasked = first.raised is not None and first.raised.how is ExceptionSource.UNASKED and first.frames
    given = handing_over(job, first.frames[-1], first.process) if unasked else ()
    locations = distinct([*failing[:1], hiding, *given, *failing[1:]])
    said = f"hid {first.raised.text[:300]}" if first.raised is not None else "hid an exception that nobody saw"
    at = f" (raised at {failing[0]})" if failing else ""
    by = f" at {hiding}" if hiding else ""
    return blamed(
        job,
        alike,
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"{sentence(names_of(alike))} {said}{at}{by} and ended with 0; missing: {first.missing}",
        evidence=_evidence(job, first),
        fix=Fix(text=_fix(job, first, by)),
        locations=locations,
        module=_module(first.process),
        confidence=Confidence.CONFIRMED if first.certain else Confidence.LIKELY,
        outcome=JobOutcome.CRASH,
        began_s=first.raised.at_s if first.raised is not None else None,
    )


def _fix(job: Job, hidden: MaskedError, by: str) -> str:
    if hidden.hiding is not None:
        line = "".join(job.sources.file(hidden.hiding.file).lines[hidden.hiding.line - 1 : hidden.hiding.line])
        if line.lstrip().startswith(("with ", "async with ")):
            return f"let the exception out of the `with`{by}: what it leaves through must not keep it to itself"
        if hidden.hiding.function == "__exit__":
            return f"let `__exit__` return None or False{by}: what is true keeps the exception to itself"
        return f"raise again after logging{by}, so that the exit code says what happened"
    if (
        hidden.missing == SAVE_MISSING
        and hidden.raised is not None
        and hidden.raised.how is not ExceptionSource.UNASKED
    ):
        return "save where a failure still counts, in the main thread and before the program ends, and let it out there"
    return "let the exception out: call result() on each future, await each task, so that the exit code says it"


def _evidence(job: Job, hidden: MaskedError) -> list[Evidence]:
    steps = ", ".join(f"rank {process.rank}: {process.steps}" for process in job.ranks)
    evidence = [Evidence(source="optimizer steps", observed=steps, expected="as many as planned, on every rank")]
    if hidden.raised is not None:
        evidence.extend(path_evidence(job, f"{hidden.raised.how}: {hidden.raised.text[:300]}", hidden.frames))
    for frame in (*hidden.frames[:1], hidden.hiding):
        evidence.extend(source_evidence(job, frame) if frame is not None else ())
    return evidence


def _module(process: JobProcess) -> str:
    """Returns the module that an exception came out of last."""
    left = left_module(process)
    return left.shown if left is not None else ""


def _calls(job: Job, hidden: MaskedError) -> tuple[str, ...]:
    """Returns the one line that calls the module an exception came out of; () where the source does not tell."""
    left = left_module(hidden.process)
    name = left.path.rpartition(".")[2] if left is not None else ""
    found = [
        Frame(file=file, line=line, function="forward")
        for file, source in job_sources(job, hidden.process)
        for line in (calls_of_attribute(source, name) if name else ())
    ]
    return (job.line(found[0]),) if len(found) == 1 else ()
