"""A rank ended well while the others still had collectives to do.

What it does: where every rank that failed only lost a peer, names the rank that had ended with exit code 0 before, the
line that left (`sys.exit`, `os._exit`) if one did, else the statement at which the ways parted, and where its peers
waited for it.

Why it matters: the ranks that complain are the ones that did nothing wrong; the one that left printed nothing.

Fix: let every rank make the same number of steps and collectives: drop_last, join(), or one agreed decision to stop.
"""

from __future__ import annotations

from diagnostics.core.failure_classes import JobOutcome
from diagnostics.core.findings import Confidence, Evidence, Finding, Fix, Severity
from diagnostics.core.frame import Frame
from diagnostics.core.frames import user_frames
from diagnostics.core.wording import distinct, sentence, shown_ranks
from diagnostics.diagnosis.agreement_fix import agreement_fix
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.divergence.ended_ranks import parted_before_end, went_alone
from diagnostics.dynamic.job.attribution import lost_its_peer
from diagnostics.dynamic.job.evidence import end_evidence, ended_s, names_of, path_evidence, rank_numbers
from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.dynamic.launch.init_progress import initialised

CODE = "D301"
NAME = "rank-ended-before-its-peers"
CLASS = "collective-missing"
EXAMINES = AppliesTo.FAILED

_FIX = Fix(
    text="let every rank reach the same collectives: the same number of batches (drop_last, join()), and no return or "
    "exit on some ranks only"
)


def match(job: Job) -> Match | None:
    """Returns the ranks that left early, None unless they alone explain what the others complain about."""
    left = [process for process in job.culprits if not process.failed]
    lost = [process for process in job.victims if lost_its_peer(process, job.output)]
    if not left or not lost or len(left) != len(job.culprits):
        return None
    if all(_only_began(process) for process in lost):
        return None  # there was no group yet that it could have left
    exits = [line for process in left for line in _exit_lines(job, process)]
    waited = [job.line(frame) for process in lost for frame in _lost_at(process)[:1]]
    exited = f" at {exits[0]}" if exits else ""
    where = f", which waited at {waited[0]}" if waited else ""
    parted = parted_before_end(job, left)
    decided = parted.decided if parted is not None else ()
    why = f". Their ways part at {decided[0]}: {parted.decisions[0].text}" if parted is not None and decided else ""
    alone = went_alone(parted) if parted is not None and not exits else ()
    who = shown_ranks(alone) if alone else names_of(left)
    waiting = parted.deadlock.positions if parted is not None else ()
    steps = [f"{names_of([process])}: {process.steps} steps" for process in (*left, *lost) if process.agent is not None]
    return Match(
        finding=Finding(
            code=CODE,
            name=NAME,
            severity=Severity.ERROR,
            title=f"{sentence(names_of(left))} ended with exit code 0{exited} before {names_of(lost)}{where}{why}",
            where=", ".join(filter(None, (who, *[*exits, *decided][:1]))),
            evidence=(
                *(end_evidence(process) for process in (*left, *lost)),
                *(
                    one
                    for process in lost
                    for one in path_evidence(job, f"{names_of([process])} lost it", _lost_at(process))
                ),
                *((Evidence(source="optimizer steps", observed=", ".join(steps)),) if steps else ()),
            ),
            fix=agreement_fix(job, parted.decisions[0] if parted is not None and decided else None, waiting, _FIX),
            confidence=Confidence.CONFIRMED if exits else Confidence.LIKELY,
        ),
        failure_class=CLASS,
        outcome=JobOutcome.CRASH,
        culprit_ranks=alone or rank_numbers(left),
        victim_ranks=rank_numbers(left) if alone else (),
        locations=distinct([*exits, *decided, *waited]),
        explains=tuple(process.pid for process in (*left, *lost)),
        began_s=min(ended_s(process) for process in left),
    )


def _only_began(process: JobProcess) -> bool:
    """Whether it asked for a process group and got none."""
    begun = process.agent is not None and process.agent.last_event("process-group-begin") is not None
    return begun and not initialised(process)


def _exit_lines(job: Job, process: JobProcess) -> list[str]:
    agent = process.agent
    events = [event for event in agent.events if event.kind in ("sys.exit", "os._exit")] if agent is not None else []
    folder = agent.agent_folder if agent is not None else ""
    paths = [user_frames(event.path, agent_folder=folder) for event in reversed(events)]
    named_files = [path for path in paths if path and not path[0].file.startswith("<")]
    return [job.line(frame) for frame in named_files[0][:1]] if named_files else []


def _lost_at(process: JobProcess) -> tuple[Frame, ...]:
    return process.uncaught.user_path if process.uncaught is not None else ()
