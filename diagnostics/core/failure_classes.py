"""How a job can end, and the classes of its failures: the words that a report, a signature and a test share."""

from __future__ import annotations

from enum import StrEnum

FAILURE_CLASSES = {
    "launcher-missing", "env-not-propagated", "port-in-use", "rendezvous-timeout", "master-unreachable",
    "nested-launch", "backend-unavailable", "device-misassigned", "version-skew", "fd-exhaustion", "shm-exhausted",
    "disk-full", "permission",
    "python-exception", "native-crash", "killed-by-oom-killer", "killed-externally", "host-oom", "cuda-oom",
    "data-worker-crash", "thread-exception", "import-failure", "pickling-failure", "teardown-abort",
    "collective-missing", "collective-mismatch", "p2p-deadlock", "rank-stalled", "collective-timeout",
    "rendezvous-hang", "shutdown-hang", "fork-deadlock", "network-lost",
    "masked-exit", "zero-progress", "tracker-not-finalised",
    "duplicate-data", "missing-set-epoch", "rank-divergence", "gradients-not-synchronised", "nan-on-rank",
    "rng-collision", "data-leakage", "gradients-not-cleared", "gradients-lost", "wrong-mode", "checkpoint-not-loaded",
    "state-not-kept", "wrong-loss", "wrong-schedule", "loader-empty",
    "unused-parameters", "parameter-mismatch", "inplace-under-ddp", "static-graph-violation", "shared-view",
    "cuda-in-cache", "truncated-file", "stale-cache", "corrupt-checkpoint",
    "straggler", "data-starved", "cpu-oversubscribed", "memory-leak",
}  # fmt: skip


class JobOutcome(StrEnum):
    """How a job went, whatever it claimed."""

    OK = "ok"
    CRASH = "crash"
    HANG = "hang"
    SILENT_WRONG = "silent-wrong"
    SLOW = "slow"
    UNKNOWN = "unknown"  # of a job that was looked at while it ran: it may go on or not
