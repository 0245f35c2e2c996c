"""What processes and the machine used while a job ran: looks from outside, kept in `record/captures/usage.jsonl`.

One JSON object a look: {"at_s", "machine": [...], "processes": {"PID-START": [...]}}, numbers in the order of the
fields below, -1 where one could not be read. Totals since a process began, but for what it has now. The file is
untrusted: a line with anything else is left out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, field, fields
from typing import Any

from diagnostics.core import untrusted_json

FILE_NAME = "usage.jsonl"
_MOST_LINES, _MOST_PROCESSES = 4000, 512
_LARGEST = float(1 << 62)


@dataclass(frozen=True, slots=True)
class ProcessUsage:
    """One process at one moment; times in seconds."""

    at_s: float
    cpu_s: float
    delayed_s: float  # all its threads together were ready to run and had no CPU
    main_delayed_s: float  # its main thread
    private_bytes: float  # memory of its own: neither files nor shared
    major_faults: float  # pages read from disk
    swapped_bytes: float
    bytes_moved: float  # read and written by calls, pipes and sockets too
    disk_bytes: float  # of that from and to disks
    threads: float


@dataclass(frozen=True, slots=True)
class MachineUsage:
    """The machine at one moment: seconds of all its CPUs since it started, and of the job's own control group."""

    at_s: float
    busy_s: float
    idle_s: float
    stolen_s: float  # given to other virtual machines
    throttled_s: float  # the control group had used up its quota


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """All looks of one job, by time."""

    machine: tuple[MachineUsage, ...] = ()
    processes: Mapping[str, tuple[ProcessUsage, ...]] = field(default_factory=dict)  # by "PID-START"


def numbers_of(one: ProcessUsage | MachineUsage) -> list[float]:
    """Returns the fields behind the time, as they stand in the file."""
    return [round(float(value), 4) for value in astuple(one)[1:]]


def usage_of(text: str) -> Usage:
    """Returns what the lines say."""
    machine: list[MachineUsage] = []
    processes: defaultdict[str, list[ProcessUsage]] = defaultdict(list)
    for line in text.splitlines()[:_MOST_LINES]:
        try:
            value = untrusted_json.loads(line)
        except ValueError:
            continue
        if not isinstance(value, dict) or not _is_number(value.get("at_s")):
            continue
        at_s = float(value["at_s"])
        numbers = _numbers(value.get("machine"), len(fields(MachineUsage)) - 1)
        if numbers is not None:
            machine.append(MachineUsage(at_s, *numbers))
        of_processes = value.get("processes")
        for name, told in list(of_processes.items())[:_MOST_PROCESSES] if isinstance(of_processes, dict) else ():
            numbers = _numbers(told, len(fields(ProcessUsage)) - 1)
            if numbers is not None:
                processes[name].append(ProcessUsage(at_s, *numbers))
    machine.sort(key=lambda one: one.at_s)
    return Usage(
        machine=tuple(machine),
        processes={name: tuple(sorted(told, key=lambda one: one.at_s)) for name, told in processes.items()},
    )


def _numbers(value: Any, count: int) -> Sequence[float] | None:
    if not isinstance(value, list) or len(value) != count or not all(map(_is_number, value)):
        return None
    return [float(one) for one in value]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and -1 <= value < _LARGEST
