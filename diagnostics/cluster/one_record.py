"""One record of the whole job from those of its hosts, so that every signature is asked about all its ranks. Pure.

A host's own doctor sees some ranks: who made one step less, who called another collective or read the same data as the
others stands on no single host.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

from diagnostics.cluster.host_report import HostReport
from diagnostics.cluster.host_shift import HostShift
from diagnostics.core import untrusted_json
from diagnostics.core.errors import DoctorError
from diagnostics.record.record import RunRecord
from diagnostics.record.supervisor_facts import ENDED_FOR_HANGING, SupervisorFacts
from diagnostics.record.usage import FILE_NAME as USAGE

MOST_HOSTS, MOST_PROCESSES = 64, 2048  # of more, the hosts' own reports tell
PER_HOST = 1 << 22  # Linux gives no process a higher number
MEMORY = "memory.json"
_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinedRecord(RunRecord):
    """The records of several hosts as one."""

    kept: RunRecord | None = None  # the state before the first signal
    numbers: Mapping[int, int]  # of processes that were numbered anew: the numbers that they had

    def before(self) -> RunRecord | None:
        """Returns the state that was kept before the job was asked to end."""
        return self.kept

    def true_numbers(self, text: str) -> str:
        """Returns a text in which processes have the numbers that their hosts gave them."""
        return re.sub(r"\b\d{7,12}\b", lambda found: str(self.numbers.get(int(found[0]), found[0])), text)


def joined_record(hosts: Sequence[HostReport], offsets: Mapping[str, float]) -> JoinedRecord | None:
    """Returns the record of the job, None where fewer than two hosts left one, or too many to be read at once."""
    folders = [Path(one.path) / "record" for one in hosts if one.report is not None]
    if not 1 < len(folders) <= MOST_HOSTS or not all((one / "agents").is_dir() for one in folders):
        return None
    try:
        records = [RunRecord.load(one) for one in folders]
    except DoctorError:
        return None
    if any(one.job is None for one in records) or sum(len(one.agents) for one in records) > MOST_PROCESSES:
        return None
    ahead = [offsets.get(one.path, 0.0) for one in hosts if one.report is not None]
    shifts = [*_shifts(records, ahead)]
    kept = [one.before() for one in records]
    numbers = {new: old for shift in shifts for old, new in shift.numbers.items()}
    whole = _as_one([shift.record(one) for shift, one in zip(shifts, records, strict=True)])
    if not any(kept):
        return JoinedRecord(**_fields(whole), numbers=numbers)
    states = [one or record for one, record in zip(kept, records, strict=True)]
    before = _as_one([shift.record(one) for shift, one in zip(shifts, states, strict=True)])
    return JoinedRecord(**_fields(whole), kept=replace(before, sources=whole.sources), numbers=numbers)


def _fields(one: RunRecord) -> dict[str, Any]:
    return {name: getattr(one, name) for name in RunRecord.__dataclass_fields__}


def _shifts(records: Sequence[RunRecord], ahead: Sequence[float]) -> Iterator[HostShift]:
    """Returns how each host's numbers and times become those of all."""
    taken: set[int] = set()
    began = [one.job.started_ns if one.job is not None else 0 for one in records]
    for place, (record, ahead_s) in enumerate(zip(records, ahead, strict=True)):
        own = {number for number in _numbers(record) if number > 0}
        yield HostShift(
            numbers={number: number + place * PER_HOST for number in own & taken},
            later_s=(began[place] - began[0]) / 1e9 - (ahead_s - ahead[0]),
            ahead_ns=round((ahead_s - ahead[0]) * 1e9),
        )
        taken |= own


def _numbers(record: RunRecord) -> Iterator[int]:
    for agent in record.agents:
        yield from (agent.pid, agent.parent_pid, agent.forked_from)
    for one in record.job.processes if record.job is not None else ():
        yield from (one.pid, one.ppid)


def _as_one(records: Sequence[RunRecord]) -> RunRecord:
    agents = [*chain.from_iterable(one.agents for one in records)]
    return RunRecord(
        folder=records[0].folder,
        agents=tuple(sorted(agents, key=lambda agent: (agent.started_ns, agent.start_ticks))),
        faults=_together(one.faults for one in records),
        unreadable=tuple(chain.from_iterable(one.unreadable for one in records)),
        job=_facts([one.job for one in records if one.job is not None]),
        outputs={**_together(one.outputs for one in records), **_common("all.txt", [one.outputs for one in records])},
        captures=_captures([one.captures for one in records]),
        sources=_together(one.sources for one in reversed(records)),
        flights=tuple(chain.from_iterable(one.flights for one in records)),
        flight_entries=_together(one.flight_entries for one in records),
        frames=_together(one.frames for one in records),
        prints=_together(one.prints for one in records),
    )


def _together(parts: Iterable[Mapping[str, _Value]]) -> dict[str, _Value]:
    return {key: value for part in parts for key, value in part.items()}


def _common(name: str, parts: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """Returns the file that each host has by this name, one after the other."""
    texts = [part[name] for part in parts if part.get(name)]
    return {name: "".join(text if text.endswith("\n") else f"{text}\n" for text in texts)} if texts else {}


def _captures(parts: Sequence[Mapping[str, str]]) -> dict[str, str]:
    found = _together(parts)
    found |= _common("samples.jsonl", parts)
    usage = _common(USAGE, parts).get(USAGE, "")
    if usage:  # one line of "machine" tells of one machine; what is common to several has none
        found[USAGE] = "".join(f"{_without_machine(line)}\n" for line in usage.splitlines())
    for name, merged in (("step-stacks.json", dict.update), (MEMORY, _with_groups)):
        values = [value for part in parts if isinstance(value := _object(part.get(name, "")), dict)]
        whole: dict[str, object] = {}
        for value in values:
            merged(whole, value)
        if values:
            found[name] = json.dumps(whole)
    return found


def _with_groups(whole: dict[str, object], value: Mapping[str, object]) -> None:
    """Adds a host's control groups; of memory that was left, the least."""
    groups, more = whole.get("groups"), value.get("groups")
    least = [one for one in (whole.get("least_available_bytes"), value.get("least_available_bytes"))
             if isinstance(one, int)]  # fmt: skip
    whole |= value
    whole["groups"] = [*(groups if isinstance(groups, list) else ()), *(more if isinstance(more, list) else ())]
    if least:
        whole["least_available_bytes"] = min(least)


def _without_machine(line: str) -> str:
    value = _object(line)
    return json.dumps({key: each for key, each in value.items() if key != "machine"}) if value else line


def _object(text: str) -> dict[str, object]:
    try:
        value = untrusted_json.loads(text) if text else {}
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _facts(jobs: Sequence[SupervisorFacts]) -> SupervisorFacts:
    """Returns what the hosts' doctors saw, as one that saw all."""
    first = jobs[0]
    ends = [one.ended_s for one in jobs]
    failed = next((one for one in jobs if one.signal is not None or one.exit_code), None)
    unclear = next((one for one in jobs if one.exit_code is None and one.signal is None), first)
    end = failed or unclear
    stalls = chain.from_iterable(one.stalls for one in jobs)
    kills = [one.oom_kills for one in jobs if one.oom_kills is not None]
    return replace(
        first,
        ended_s=max((one for one in ends if one is not None), default=None),
        exit_code=end.exit_code,
        signal=end.signal,
        ended_by=min((one.ended_by for one in jobs), key=_telling),
        processes=tuple(chain.from_iterable(one.processes for one in jobs)),
        sent=tuple(sorted(chain.from_iterable(one.sent for one in jobs), key=lambda one: one.at_s)),
        stalls=tuple(sorted(stalls, key=lambda one: (one.over_s is None, one.began_s))),
        proved=tuple(chain.from_iterable(one.proved for one in jobs)),
        oom_kills=sum(kills) if kills else None,
        kernel_lines=tuple(chain.from_iterable(one.kernel_lines for one in jobs)),
        disks=tuple(chain.from_iterable(one.disks for one in jobs)),
        shm_bytes=min((one.shm_bytes for one in jobs if one.shm_bytes is not None), default=None),
        memory_bytes=min((one.memory_bytes for one in jobs if one.memory_bytes is not None), default=None),
        gpus=tuple(chain.from_iterable(one.gpus for one in jobs)),
        missing=tuple(dict.fromkeys(chain.from_iterable(one.missing for one in jobs))),
    )


def _telling(ended_by: str) -> int:
    """Returns 0 for the word about the end that says the most of the whole job."""
    if ended_by in ENDED_FOR_HANGING:
        return 0
    return 2 if ended_by == "itself" else 1
