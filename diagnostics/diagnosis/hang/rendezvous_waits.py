"""Ranks wait for others before there is a process group.

What it does: where a job stood still and ranks stand in init_process_group, in a store of their own, or a launcher
stands in the rendezvous of several nodes, names who has not come: ranks that were never started, that stand at a line
before it, that ended without it, that ask another address, port or file, or that were told another number of ranks;
and the line that sets what is wrong.

Why it matters: init_process_group waits for half an hour, in silence, and then the rank complains that came.

Fix: start as many ranks as the world size says, give all of them one address, and let none wait before it.
"""

from __future__ import annotations

import dataclasses

from diagnostics.core.failure_classes import JobOutcome
from diagnostics.core.findings import Confidence, Evidence, Fix
from diagnostics.core.wording import distinct
from diagnostics.diagnosis.match_building import blamed
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.evidence import names_of, path_evidence, stood_still
from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.dynamic.job.process_queries import is_alive, main_stack
from diagnostics.dynamic.launch.launch_settings import launch_lines
from diagnostics.dynamic.launch.nested_launch import nested_launch
from diagnostics.dynamic.launch.rendezvous_cause import calls, came_s, rendezvous_cause
from diagnostics.dynamic.launch.rendezvous_state import asked, rendezvous

CODE = "D345"
NAME = "rendezvous-waits"
CLASS = "rendezvous-hang"
EXAMINES = AppliesTo.ANY


def match(job: Job) -> Match | None:
    """Returns who has not come and why, None where nobody waits for the beginning."""
    if not stood_still(job) or nested_launch(job) is not None:
        return None
    state = rendezvous(job)
    if state is None or any(one.failed and not is_alive(one) for one in (*state.ended, *state.through)):
        return None
    waiting = state.came or state.launchers
    reason = rendezvous_cause(job, state)
    given = [f"{names_of([one])} asks {asked(one).endpoint or 'an unknown place'} for {asked(one).world or '?'} ranks"
             for one in state.came]  # fmt: skip
    found = blamed(
        job,
        reason.processes,
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=reason.title,
        evidence=(
            *(one for process in waiting[:2] for one in _stack(job, process)),
            *(one for process in state.before[:2] for one in _stack(job, process)),
            *([Evidence(source="calls of init_process_group", observed="; ".join(given))] if given else ()),
            Evidence(
                source="processes of the job",
                observed=f"{names_of(job.ranks) if job.ranks else 'no rank'} started",
                expected=f"{state.world} ranks" if state.world is not None else "every node and rank of the job",
            ),
        ),
        fix=Fix(text=reason.fix, commands=reason.commands),
        locations=distinct([*reason.locations, *calls(job, waiting), *launch_lines(job)]),
        confidence=Confidence.CONFIRMED if reason.sure else Confidence.LIKELY,
        outcome=JobOutcome.HANG,
        explains=[one.pid for one in waiting],
        began_s=min((came_s(job, one) for one in waiting), default=None),
    )
    return dataclasses.replace(
        found,
        culprit_ranks=tuple(sorted(set(reason.ranks))),
        victim_ranks=tuple(sorted({one.rank for one in waiting if one.rank is not None} - set(reason.ranks))),
    )


def _stack(job: Job, process: JobProcess) -> tuple[Evidence, ...]:
    return path_evidence(job, f"stack of {names_of([process])}", main_stack(process))
