"""What a process did over several looks from outside, while its job stood still: state, CPU, bytes, innermost lines.

The supervisor appends one JSON object a look to `record/captures/samples.jsonl`; `samples_of` reads them back.
"""

from __future__ import annotations

from dataclasses import dataclass

from diagnostics.analysis.agent_facts import Frame


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One process at one moment. Times are seconds since the job started; numbers are totals since it began."""

    pid: int
    start_ticks: int
    at_s: float
    state: str  # R running, S sleeping, D disk wait, T stopped, t traced, Z zombie: as /proc has it
    waits_in: str  # kernel function (wchan), "" where it cannot be read
    syscall: str  # "read 0", "futex", "wait4 4711", "flock 5": name and first argument of its main thread; "" unknown
    cpu_s: float
    bytes_moved: int  # read and written, also over pipes and sockets
    major_faults: int  # pages read from disk: swapping
    swapped_bytes: int | None
    open_file: str  # path behind the descriptor of `syscall`, "" where it has none
    stack: tuple[Frame, ...] = ()  # of its main thread, innermost first; () not taken in this look
