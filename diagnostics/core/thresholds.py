"""Finds and reads doctor.yaml: limits and deadlines that differ from the built-in ones."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from diagnostics.core.strict_yaml import load

PLACES = (Path("configs/doctor.yaml"), Path("doctor.yaml"))  # below the current folder


def find(explicit: Path | None = None) -> Path | None:
    """Returns the file named by the user, else the first of PLACES that exists, else None."""
    if explicit is not None:
        return explicit
    return next((path for path in PLACES if path.is_file()), None)


def read_thresholds(explicit: Path | None = None) -> Thresholds:
    """Returns the limits of the file that `find` gives; without one the built-in limits.

    Raises UsageError naming file, line and nearest key for what does not fit.
    """
    path = find(explicit)
    return load(path, Thresholds) if path is not None else Thresholds()


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """Limits and deadlines; configs/doctor.yaml repeats each with its reason and overrides it."""

    child_deadline_s: float = 20.0  # one child of a probe; a cold `import torch` took 1.7 s, 7 s under load
    import_deadline_s: float = 60.0  # `import torch` from a cold or network disk
    rendezvous_deadline_s: float = 30.0
    data_deadline_s: float = 60.0  # cache scan, or ranks that open and read the data
    model_deadline_s: float = 120.0
    dry_run_deadline_s: float = 180.0
    signature_deadline_s: float = 20.0  # one known failure, looked for in a record; the slowest was seen to take 2 s
    diagnosis_deadline_s: float = 120.0  # all of them, reading and the report
    max_data_wait_share: float = 0.3  # of a step; above, the GPUs wait for the data
    min_free_disk_bytes: int = 1 << 30
    min_free_memory_bytes: int = 1 << 30
    fds_per_worker: int = 64  # descriptors one loader worker and its queues were seen to hold
    slower_than_last_good: float = 3.0  # latency ratio that is worth a warning
    max_temperature_c: int = 85
    hosts_answer_s: float = 30.0  # until a program runs on each host: ssh, a cold Python, the launcher's other tasks
    slower_than_other_pairs: float = 3.0  # bandwidth or latency of two hosts against the middle pair
    max_clock_skew_s: float = 1.0  # of a host against the middle one
