"""Ranks that a launcher started again look for each other at the addresses of their first start.

What it does: takes refused connections of ranks that were started again (`torchrun --max-restarts`) and never made a
process group, and looks whether the port was that of an earlier start; also ranks that have all come to the rendezvous
of a restart, and hang there. Names what failed at first, which is why they were started again.

Why it matters: torchrun's ranks share the store of their agent, which lives on over a restart with the keys of the
start before: a rank that is quicker than its peer reads where that one was, is refused, and the restart, too, fails.
What is printed last is this, and not the failure that began it.

Fix: mend what failed at first; `TORCH_DISABLE_SHARE_RDZV_TCP_STORE=1 torchrun ...` gives each start a store of its own
(see pytorch issue 135712).
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from diagnostics.core.failure_classes import JobOutcome
from diagnostics.core.findings import Confidence, Evidence, Fix
from diagnostics.core.wording import distinct, sentence
from diagnostics.diagnosis.match_building import blamed
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.failures.error_texts import TextMatch, failed_processes, match_text
from diagnostics.dynamic.failures.root_exception import locations_of, root_exception
from diagnostics.dynamic.job.attribution import lost_its_peer
from diagnostics.dynamic.job.evidence import ended_s, how_it_ended, names_of, path_evidence, stood_still
from diagnostics.dynamic.job.job import Job, JobProcess, ProcessRole
from diagnostics.dynamic.job.process_queries import main_stack
from diagnostics.dynamic.launch.init_progress import initialised
from diagnostics.dynamic.launch.rendezvous_cause import calls
from diagnostics.dynamic.launch.rendezvous_state import rendezvous

CODE = "D115"
NAME = "restart-met-old-addresses"
CLASS = "rendezvous-timeout"  # where nothing is known of what failed at first
EXAMINES = AppliesTo.FAILED

_FIX = Fix(
    text="mend what failed at first; for restarts that meet, give each start a store of its own",
    commands=("TORCH_DISABLE_SHARE_RDZV_TCP_STORE=1 torchrun --max-restarts N ...",),
)
MOST_WORDS = 200  # characters of what the first failure said
_REFUSED = re.compile(
    r"Connection refused, remote=\[(?P<host>[^\]\n]{1,60})\]:(?P<port>\d{1,5})"
    r"|connect to (?P<nccl>[\w.:\[\]-]{1,60})<(?P<number>\d{1,5})> (?:returned|failed).{0,20}Connection refused"
)
_SEEN = re.compile(r"\[[^\]\n]{1,60}\]:(\d{1,5})|[\w.]{3,60}<(\d{1,5})>")


def match(job: Job) -> Match | None:
    """Returns what failed at first, where a restart could not connect."""
    tellers = [one for one in match_text(job, _REFUSED, failed_processes(job)) if _is_of_restart(one.process)]
    if not tellers:
        return _waits(job)
    known = [one for one in tellers if any(_port(one) in _ports(each) for each in _before(job, one))]
    last = (known or tellers)[-1]
    before, port = _before(job, last), _port(last)
    began = _beginning(job, before)
    return blamed(
        job,
        began.culprits,
        code=CODE,
        name=NAME,
        failure_class=began.failure_class,
        title=f"{began.words}; the ranks were started again and could not meet: {names_of([last.process])} was refused "
        f"at port {port}{', where a rank of the start before had been' if known else ''}",
        evidence=[*last.evidence(job), *(_seen(before, port) if known else ())],
        fix=_FIX,
        locations=distinct([*began.lines, *last.locations(job)]),
        confidence=Confidence.CONFIRMED if known else Confidence.LIKELY,
        explains=[one.pid for one in job.processes if one.part is ProcessRole.RANK and (one.failed or one.ended_by)],
    )


def _waits(job: Job) -> Match | None:
    """Returns what failed at first, where all ranks of a restart have come to the rendezvous and none gets through."""
    state = rendezvous(job) if stood_still(job) else None
    if state is None or not state.came or len(state.came) < len(job.ranks) or not all(map(_is_of_restart, state.came)):
        return None
    ranks = [one for one in job.processes if one.part is ProcessRole.RANK]
    before = [one for one in ranks if one.restart < state.came[0].restart]
    if not any(map(initialised, before)):
        return None
    began = _beginning(job, before)
    return blamed(
        job,
        began.culprits,
        code=CODE,
        name=NAME,
        failure_class=began.failure_class,
        title=f"{began.words}; {names_of(state.came)} were started again and do not meet, though all have come: as "
        "where they look for each other at the addresses of the start before",
        evidence=[one for each in state.came[:2] for one in path_evidence(job, _stack_of(each), main_stack(each))],
        fix=_FIX,
        locations=distinct([*began.lines, *calls(job, state.came)]),
        confidence=Confidence.LIKELY,
        outcome=JobOutcome.HANG,
        explains=[one.pid for one in ranks],
    )


def _stack_of(process: JobProcess) -> str:
    return f"stack of {names_of([process])}"


@dataclass(frozen=True)
class _Beginning:
    """What failed before the ranks were started again: in words, with who is to blame and its lines."""

    words: str
    culprits: list[JobProcess]
    failure_class: str
    lines: Sequence[str]


def _beginning(job: Job, before: Sequence[JobProcess]) -> _Beginning:
    first = _first_failure(before)
    if first is None:
        return _Beginning("All ranks were started again", [], CLASS, ())
    root = root_exception(job, first)
    if root is None:
        kind = CLASS if first.end.signal is None else "native-crash"
        return _Beginning(f"{sentence(names_of([first]))} {how_it_ended(first)}", [first], kind, ())
    lines = locations_of(job, root)
    at = f" at {lines[0]}" if lines else ""
    said = f": {textwrap.shorten(root.root_text, MOST_WORDS, placeholder=' ...')}" if root.root_text else ""
    kind = "python-exception" if first.end.signal is None else "native-crash"
    return _Beginning(f"{sentence(names_of([first]))} raised{at}{said}", [first], kind, lines)


def _is_of_restart(process: JobProcess) -> bool:
    return process.part is ProcessRole.RANK and process.restart > 0 and not initialised(process)


def _before(job: Job, one: TextMatch) -> list[JobProcess]:
    """Returns the ranks of earlier starts."""
    return [each for each in job.processes if each.part is ProcessRole.RANK and each.restart < one.process.restart]


def _port(one: TextMatch) -> str:
    return one.found["port"] or one.found["number"]


def _first_failure(before: Sequence[JobProcess]) -> JobProcess | None:
    """Returns the rank that failed by itself in the earliest start that failed."""
    own = [one for one in before if one.failed and one.ended_by in ("", "unknown") and not lost_its_peer(one)]
    return min(own, key=lambda one: (one.restart, ended_s(one)), default=None)


def _ports(process: JobProcess) -> set[str]:
    texts = (process.output, *(one.message for one in process.raised))
    return {found[1] or found[2] for text in texts for found in _SEEN.finditer(text)}


def _seen(before: Sequence[JobProcess], port: str) -> tuple[Evidence]:
    told = names_of([one for one in before if port in _ports(one)])
    return (
        Evidence(source="this port in the start before", observed=f"{told} had a peer there", expected="a new one"),
    )
