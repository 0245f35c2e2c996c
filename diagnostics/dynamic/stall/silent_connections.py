"""Connections between hosts over which nothing comes any more, from the captures of a job that stood still. Pure."""

from __future__ import annotations

import ipaddress
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from diagnostics.core import untrusted_json
from diagnostics.dynamic.job.job import Job, JobProcess

UNANSWERED = 3  # times the same bytes went out again: after 0.2, 0.4 and 0.8 s, when a healthy network answers in ms


@dataclass(frozen=True, slots=True, kw_only=True)
class SilentConnection:
    """What a rank sent to another machine, which did not acknowledge it. Both ends are addresses without ports."""

    process: JobProcess
    here: str
    there: str
    waiting_bytes: int
    sent_again: int


def silent_connections(job: Job) -> tuple[SilentConnection, ...]:
    """Returns those of all ranks."""
    return tuple(found for process in job.ranks for found in _of(job, process))


def _of(job: Job, process: JobProcess) -> Iterator[SilentConnection]:
    try:
        capture = untrusted_json.loads(job.extra.get(f"proc-{process.pid}.json", ""))
    except ValueError:
        return
    sockets = capture.get("sockets") if isinstance(capture, dict) else None
    for one in sockets if isinstance(sockets, list) else ():
        if not isinstance(one, dict):
            continue
        again, queued = one.get("sent_again"), one.get("unacknowledged_bytes")
        here, there = _address(one.get("local")), _address(one.get("remote"))
        if not (isinstance(again, int) and isinstance(queued, int) and here and there):
            continue
        if again >= UNANSWERED and queued > 0 and here != there:
            yield SilentConnection(process=process, here=here, there=there, waiting_bytes=queued, sent_again=again)


def _address(place: object) -> str:
    """Returns the address of "10.0.0.2:29500", "" of this machine's own and of anything else."""
    text = str(place).rpartition(":")[0].strip("[]") if isinstance(place, str) else ""
    try:
        return "" if ipaddress.ip_address(text).is_loopback else text
    except ValueError:
        return ""


def cut_off(pairs: Sequence[frozenset[str]]) -> str:
    """Returns the one address in all of these pairs, "" where there is one pair only, or no such address."""
    counted = Counter(address for pair in pairs for address in pair)
    found = [address for address, count in counted.items() if count == len(pairs)]
    return found[0] if len(pairs) > 1 and len(found) == 1 else ""
