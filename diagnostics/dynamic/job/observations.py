"""What one process did while its job stood still, summed up over the looks at it from outside. Pure.

The looks are the samples of the stall; where none were taken, the capture `proc-PID.json` stands for two.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from diagnostics.core import untrusted_json
from diagnostics.core.frame import Frame
from diagnostics.dynamic.job import cpu_shares
from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.record.process_samples import Sample

FEW_LOOKS = 4
SWAPPING_FAULTS_PER_S = 50.0
_MOST_DISK_WAIT = 0.5  # share of the looks
# Numbers of x86-64, then of arm64: the two whose names the kernel does not tell
_CALLS: Mapping[str, str] = {
    "0": "read", "1": "write", "7": "poll", "23": "select", "35": "nanosleep", "42": "connect", "43": "accept",
    "44": "sendto", "45": "recvfrom", "47": "recvmsg", "61": "wait4", "72": "fcntl", "73": "flock", "74": "fsync",
    "202": "futex", "230": "clock_nanosleep", "232": "epoll_wait", "247": "waitid", "257": "openat", "270": "pselect6",
    "271": "ppoll", "281": "epoll_pwait", "34": "pause",
}  # fmt: skip
_WITH_ARGUMENT = {"read", "write", "connect", "accept", "sendto", "recvfrom", "recvmsg", "wait4", "fcntl", "flock"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessObservations:
    """What a process did. Numbers are None where nothing tells."""

    samples: tuple[Sample, ...] = ()

    @property
    def last(self) -> Sample | None:
        """The latest look."""
        return self.samples[-1] if self.samples else None

    @property
    def state(self) -> str:
        """Its state in most of the looks; a stopped or dead one only where it was so in the last, too."""
        if not self.samples:
            return ""
        last = self.samples[-1].state
        return last if last in "TtZ" else Counter(one.state for one in self.samples).most_common(1)[0][0]

    @property
    def stopped(self) -> bool:
        """Whether it was stopped, or held by a tracer, in every look of the last half."""
        return bool(self.samples) and all(one.state in "Tt" for one in self.samples[len(self.samples) // 2 :])

    @property
    def in_disk_wait(self) -> bool:
        """Whether the kernel kept it in most looks."""
        waits = sum(one.state == "D" for one in self.samples)
        return bool(self.samples) and waits / len(self.samples) > _MOST_DISK_WAIT

    @property
    def cpus(self) -> float | None:
        """CPUs it used on average; None of a single look."""
        return self._rate(lambda one: one.cpu_s)

    @property
    def computes(self) -> bool:
        """Whether it was busy, its main thread in at least half of the looks."""
        running = sum(one.state == "R" for one in self.samples)
        used = self.cpus or 0.0
        # On a crowded machine it gets little, but never sleeps.
        never_slept = running * 10 >= 9 * len(self.samples) > 0
        starved = cpu_shares.STARVES if len(self.samples) >= FEW_LOOKS else 10 * cpu_shares.STARVES
        return (used >= cpu_shares.COMPUTES and running * 2 >= len(self.samples)) or (never_slept and used >= starved)

    @property
    def bytes_per_s(self) -> float | None:
        """Bytes it read and wrote."""
        return self._rate(lambda one: one.bytes_moved)

    @property
    def swaps(self) -> bool:
        """Whether most of what it did was to wait for pages."""
        rate = self._rate(lambda one: one.major_faults)
        return rate is not None and rate >= SWAPPING_FAULTS_PER_S

    @property
    def call(self) -> str:
        """Name of the system call of its main thread in most looks, "" where it was in none."""
        names = Counter(one.syscall.partition(" ")[0] for one in self.samples if one.syscall)
        return names.most_common(1)[0][0] if names else ""

    @property
    def argument(self) -> int | None:
        """First argument of that call: a descriptor, a pid."""
        for one in reversed(self.samples):
            name, _, word = one.syscall.partition(" ")
            if name == self.call and word.removeprefix("-").isdigit():
                return int(word)
        return None

    @property
    def open_file(self) -> str:
        """What lies behind the descriptor of that call, "" where it has none."""
        return next((one.open_file for one in reversed(self.samples) if one.open_file), "")

    @property
    def stacks(self) -> tuple[tuple[Frame, ...], ...]:
        """The stacks of its main thread that were taken, by time."""
        return tuple(one.stack for one in self.samples if one.stack)

    def _rate(self, number: Any) -> float | None:
        if len(self.samples) < 2:
            return None
        first, last = self.samples[0], self.samples[-1]
        apart = last.at_s - first.at_s
        return (number(last) - number(first)) / apart if apart > 0 else None


def observations_of(job: Job, process: JobProcess) -> ProcessObservations:
    """Returns the looks at a process since nothing moves; of a job that was not called stuck, all there are."""
    stall = next((one for one in reversed(job.facts.stalls) if one.over_s is None), None)
    since_s = stall.began_s if stall is not None else 0.0
    return ProcessObservations(
        samples=tuple(one for one in process.samples if one.at_s >= since_s) or _captured(job, process)
    )


def open_files(job: Job, process: JobProcess) -> tuple[str, ...]:
    """Returns the paths that the process had open when it was captured."""
    files = _capture(job, process).get("files")
    return tuple(one for one in files if isinstance(one, str)) if isinstance(files, list) else ()


def _captured(job: Job, process: JobProcess) -> tuple[Sample, ...]:
    """Returns two samples from a capture: it holds what was used between two looks."""
    found = _capture(job, process)
    state = found.get("state")
    if not isinstance(state, str) or not state:
        return ()
    at_s = max(0.0, (_number(found, "at_ns") - job.facts.started_ns) / 1e9)
    apart = _number(found, "looks_apart_s") or 0.1
    used = _number(found, "busy") * apart
    moved = int(_number(found, "read_bytes") + _number(found, "written_bytes"))
    waits = found.get("waits_in")
    cpu = _number(found, "cpu_s")
    return tuple(
        Sample(
            pid=process.pid,
            start_ticks=process.start_ticks,
            at_s=at_s - before,
            state=state,
            waits_in=waits if isinstance(waits, str) else "",
            syscall=_named(str(found.get("system_call") or "")),
            cpu_s=cpu - spent,
            bytes_moved=moved,
            major_faults=0,
            swapped_bytes=None,
            open_file="",
        )
        for before, spent in ((apart, used), (0.0, 0.0))
    )


def _capture(job: Job, process: JobProcess) -> dict[str, Any]:
    try:
        found = untrusted_json.loads(job.extra.get(f"proc-{process.pid}.json", ""))
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _named(text: str) -> str:
    """Returns "read 0" of "0 0x0 0x7ff...", "" of a number that tells nothing."""
    words = text.split()
    name = _CALLS.get(words[0], "") if words else ""
    if name not in _WITH_ARGUMENT or len(words) < 2:
        return name
    try:
        value = int(words[1], 16)
    except ValueError:
        return name
    return f"{name} {value - (1 << 64) if value >> 63 else value}"


def _number(found: Mapping[str, Any], name: str) -> float:
    value = found.get(name)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else 0.0
