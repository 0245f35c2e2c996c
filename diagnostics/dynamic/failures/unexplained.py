"""What was seen of a failure that no signature knows: unknown is an answer, with what there is. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from diagnostics.core.wording import last_line, sentence
from diagnostics.dynamic.job.evidence import (
    how_it_ended,
    module_of,
    names_of,
    primary_failures,
    stood_still,
    written_by,
)
from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.dynamic.stall.liveness import judgement_of


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedFacts:
    """What there is of a failure without a name."""

    sentence: str
    locations: tuple[str, ...] = ()
    ranks: tuple[int, ...] = ()
    module: str = ""
    advice: str = ""


def unexplained(job: Job) -> ObservedFacts:
    """Returns what was seen of the processes at fault, else of the job as a whole."""
    looked = judgement_of(job)
    if looked is not None:
        return ObservedFacts(sentence=sentence(looked.words), advice=_look_again(job))
    processes = primary_failures(job)
    if stood_still(job) and not job.culprits:
        return ObservedFacts(
            sentence=_stalled(job),
            advice="see where the ranks stood, below; the line that one rank reached and another did not is the place",
        )
    if not processes:
        how = f"died of signal {job.facts.signal}" if job.facts.signal is not None else f"ended with {_code(job)}"
        said = last_line(job.output)
        return ObservedFacts(
            sentence=f"The job {how}{f', last it wrote: {said[:200]}' if said else ''}",
            advice="see what it wrote last, in record/output/all.txt",
        )
    first = processes[0]
    locations = _locations(job, first)
    place = f" at {locations[0]}" if locations else ""
    said = last_line(written_by(job, first))
    return ObservedFacts(
        sentence=f"{sentence(names_of([first]))} {how_it_ended(first)}{place}"
        + (f", last it wrote: {said[:200]}" if said else ""),
        locations=locations,
        ranks=tuple(sorted({process.rank for process in job.culprits if process.rank is not None})),
        module=module_of(first),
        advice="see the timeline and what the process wrote last, in record/output/",
    )


def _look_again(job: Job) -> str:
    """Returns what tells more, with a command that can be pasted as it is: the job still runs."""
    told = "a job that is started with `ups-doctor run --` tells more"
    if not job.processes:
        return told
    return f"look again, and longer: `ups-doctor attach {job.processes[0].pid} --seconds 60`; {told}"


def _stalled(job: Job) -> str:
    stall = job.facts.stalls[-1] if job.facts.stalls else None
    since = f" after {stall.began_s:.1f} s" if stall is not None else ""
    early = ", before the first step" if stall is not None and stall.before_first_step else ""
    end = ", and the doctor ended the job" if job.facts.ended_for_hanging else ""
    return f"Nothing moved any more{since}{early}{end}"


def _code(job: Job) -> str:
    return f"exit code {job.facts.exit_code}" if job.facts.exit_code is not None else "no exit code that is known"


def _locations(job: Job, process: JobProcess) -> tuple[str, ...]:
    if process.uncaught is not None and process.uncaught.user_path:
        return tuple(job.line(frame) for frame in process.uncaught.user_path[:3])
    return (process.death.location,) if process.death is not None and process.death.location else ()
