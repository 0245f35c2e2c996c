"""Not all ranks came to the rendezvous before its timeout.

What it does: takes "1/2 clients joined", RendezvousTimeoutError and store timeouts before any process group was made;
compares the number of ranks asked for with the ranks that were started, and names those that never came and the line
that sets the number.

Why it matters: the ranks that complain are those that came.

Fix: start as many ranks as WORLD_SIZE says, on every node, and none of them much later than the others.
"""

from __future__ import annotations

import dataclasses
import re

from diagnostics.core.findings import Confidence, Evidence, Fix
from diagnostics.core.frame import Frame
from diagnostics.core.frames import user_frames
from diagnostics.core.wording import distinct, sentence, shown_ranks
from diagnostics.diagnosis.match_building import blamed
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.failures.error_texts import TextMatch, failed_processes, match_text
from diagnostics.dynamic.job.attribution import lost_its_peer
from diagnostics.dynamic.job.evidence import names_of
from diagnostics.dynamic.job.job import Job, JobProcess, ProcessRole
from diagnostics.dynamic.launch.init_progress import at_another_port, initialised, ranks_that_never_came
from diagnostics.dynamic.launch.launch_settings import launch_lines, lines_setting
from diagnostics.dynamic.launch.nested_launch import nested_launch
from diagnostics.dynamic.launch.rendezvous_cause import known_reason
from diagnostics.dynamic.launch.rendezvous_state import asked, state_of
from diagnostics.static.launch_files.launch_line import option

CODE = "D105"
NAME = "rendezvous-incomplete"
CLASS = "rendezvous-timeout"
EXAMINES = AppliesTo.FAILED

JOINED = re.compile(r"\b(?P<joined>\d{1,9})/(?P<world>\d{1,9}) clients joined")
INCOMPLETE = re.compile(
    r"\b\d{1,9}/\d{1,9} clients joined|RendezvousTimeoutError"
    r"|(?:wait timeout after|Timed out after|Timeout waiting for|socket timeout).{0,80}?(?:keys?:|store|clients|key)"
    r"|: Wait timeout$|DistStoreError|connectFullMesh failed.{0,300}(?:timed? ?out|Timed out)",
    re.IGNORECASE,
)
SIZES = ("WORLD_SIZE", "world_size", "nnodes", "num_machines", "nproc_per_node", "num_processes", "ntasks", "nprocs")


def match(job: Job) -> Match | None:
    """Returns who never came, and where the number of ranks is set."""
    tellers = match_text(job, INCOMPLETE, failed_processes(job))
    if not tellers or any(initialised(one.process) for one in tellers) or nested_launch(job) is not None:
        return None
    if any(_failed_otherwise(one, tellers) for one in failed_processes(job)) or at_another_port(job):
        return None
    first = tellers[0]
    world = _world(job, first)
    never = ranks_that_never_came(job, world)
    set_at = lines_setting(job, SIZES, str(world)) if world is not None and never else ()
    # Who holds the store gives up first, and the others lose it: they had come as well.
    came = tuple(one for one in job.ranks if _told_by(one, tellers) or (one.failed and lost_its_peer(one)))
    late = tuple(one for one in job.ranks if one.rank is not None and one not in came)
    reason = known_reason(job, state_of(job, came)) if came else None
    # Ranks that were told different things are why some never came.
    differ = reason is not None and bool(never) and set(reason.ranks) != set(never)
    if not differ and never and set_at:
        reason = None
    found = reason.ranks if reason is not None else ()
    who = found if differ else never or tuple(one.rank for one in late if one.rank is not None) or found
    title = _title(job, first, world, never, late)
    if reason is not None and (differ or not (never or late)):
        title = reason.title
    late_at = [job.line(frame) for one in late for frame in _stands(one)[:1]]
    literal = [line for line in first.locations(job)[:1] if line in set_at]
    match = blamed(
        job,
        [*(one.process for one in tellers), *(one for one in came if not _told_by(one, tellers))],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=title,
        evidence=(
            *first.evidence(job),
            Evidence(
                source="processes of the job",
                observed=f"ranks {', '.join(str(one.rank) for one in job.ranks) or 'none'} were started",
                expected=f"{world} ranks" if world is not None else "every node and rank of the job",
            ),
        ),
        fix=_fix(job, world, never),
        locations=distinct([
            *late_at, *(reason.locations if reason is not None else ()), *literal, *set_at, *first.locations(job),
            *launch_lines(job),
        ]),
        confidence=Confidence.CONFIRMED if who or JOINED.search(first.found.string) else Confidence.LIKELY,
    )  # fmt: skip
    return dataclasses.replace(match, culprit_ranks=tuple(sorted(who)))


def _failed_otherwise(process: JobProcess, tellers: tuple[TextMatch, ...]) -> bool:
    """A rank that died of something else did not come for that reason; one that lost the store waited as well."""
    own = process.failed and process.ended_by in ("", "unknown") and process.part is ProcessRole.RANK
    return own and not _told_by(process, tellers) and not lost_its_peer(process)


def _told_by(process: JobProcess, tellers: tuple[TextMatch, ...]) -> bool:
    return any(one.process.pid == process.pid for one in tellers)


def _world(job: Job, one: TextMatch) -> int | None:
    if found := JOINED.search(one.found.string):
        return int(found["world"])
    nodes = option(one.process.argv, "--nnodes")
    if one.process.part is ProcessRole.LAUNCHER and nodes is not None:
        return None  # nodes, not ranks
    return asked(one.process).world or job.world_size


def _stands(process: JobProcess) -> tuple[Frame, ...]:
    return user_frames(process.stacks[0]) if process.stacks else ()


def _title(job: Job, one: TextMatch, world: int | None, never: tuple[int, ...], late: tuple[JobProcess, ...]) -> str:
    started = len({process.rank for process in job.ranks})
    found = JOINED.search(one.found.string)
    joined = f"{found['joined']} of {found['world']} joined" if found else "its time was up"
    who = sentence(names_of([one.process]))
    if never:
        return f"{who} waited for {world} ranks, but {started} were started: {shown_ranks(never)} never came ({joined})"
    if late:
        missed = f"{names_of(late)}, which was started but did not come to the rendezvous ({joined})"
        return f"{who} waited in vain for {missed}"
    nodes = option(one.process.argv, "--nnodes", "--num-machines")
    if nodes not in (None, "1"):
        return f"The launcher waited for {nodes} nodes, and not all came: {joined}"
    return f"{who} waited for {world or 'other'} ranks, and not all came: {joined}"


def _fix(job: Job, world: int | None, never: tuple[int, ...]) -> Fix:
    if never:
        started = len({process.rank for process in job.ranks})
        return Fix(text=f"start {world} ranks, or set the world size to the {started} that are started")
    return Fix(
        text="start the command on every node with the same endpoint and number of nodes, or lower the number; let no "
        "rank do long work before init_process_group, or raise the timeout",
        commands=("torchrun --nnodes N --node-rank I --rdzv-endpoint HOST:PORT ...",),
    )
