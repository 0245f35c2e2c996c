"""Which variables launchers set for each rank: one row a launcher, with the place in it that shows it. Pure.

To add one: a row, and what starts it in tests/static/test_launcher_environments.py.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LauncherEnvironment:
    """One row: the library as it was read, the file and name that show it, and which variables a rank finds."""

    library: str
    shown: str
    sets: frozenset[str] = frozenset()


_OF_TORCH = frozenset(["RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"])

LAUNCHERS: dict[str, LauncherEnvironment] = {
    "torchrun": LauncherEnvironment(
        "torch 2.13", "torch/distributed/elastic/agent/server/local_elastic_agent.py:_start_workers", _OF_TORCH
    ),
    # Its tasks ask submitit.JobEnvironment() for their rank; nothing that torch reads is set.
    "submitit": LauncherEnvironment("submitit 1.5.4", "submitit/core/job_environment.py:global_rank"),
    # Runs the function in the process that called it.
    "hydra.main": LauncherEnvironment("hydra 1.3.8", "hydra/main.py:main"),
}
# What a program makes itself, to set the variables from what its launcher says.
EXPORTERS: dict[str, LauncherEnvironment] = {
    "submitit.helpers.TorchDistributedEnvironment": LauncherEnvironment(
        "submitit 1.5.4", "submitit/helpers.py:export", _OF_TORCH
    ),
}
