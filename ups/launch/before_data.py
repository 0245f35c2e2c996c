"""What is wrong about a configuration by itself: told before its data is asked for, which may take hours to make."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ups.config import UpsConfig
from ups.data import ram_disk
from ups.data.fields import data_file
from ups.data.pairing import check_objective
from ups.data.pde.equations import equation
from ups.data.recipe import recipe_for
from ups.data.sampler import check_batch
from ups.data.several.problems import problems
from ups.errors import ConfigError
from ups.launch.port import check_port
from ups.models.fit import check_without_data
from ups.strategies.admitted import refuse_what_does_not_fit
from ups.tracking import backends


def check_configuration(config: UpsConfig, stages: Sequence[str], nproc: int, *, gpus: bool, port: int | None) -> None:
    """Raises ConfigError for the first thing that no data could make right, on so many ranks.

    `port` is the one at which ranks are to meet that this process starts.
    """
    refuse_what_does_not_fit(config, nproc, gpus=gpus)
    if config.training.backend == "nccl" and not gpus:
        from ups.distributed import choose_backend  # torch.distributed is imported for this alone

        choose_backend("nccl", cuda=gpus, nccl=False)
    for name in stages:
        check_batch(getattr(config.stages, name).batch_size, nproc)
    for one in problems(config).values():
        _check_problem(one, stages)
    _check_ram_disk(config.cache.ram_disk)
    backends.check(config)
    if port is not None:
        check_port(port)


def check_kind(stages: Sequence[str], task: str) -> None:
    """Raises ConfigError where stage steady is to solve what goes on in time."""
    if "steady" in stages and equation(task).KIND != "steady":
        raise ConfigError(
            f"stage steady solves steady problems, and {task} goes on in time",
            hint="leave steady out of stages.run",
        )


def _check_problem(config: UpsConfig, stages: Sequence[str]) -> None:
    data = config.data
    if "operator" in stages:
        check_objective(config.objective, data.task)
    check_kind(stages, data.task)
    if not data_file(data).exists():
        recipe_for(data)  # what cannot be made either
    check_without_data(config)


def _check_ram_disk(place: str | None) -> None:
    if place not in (None, ram_disk.AUTO) and not Path(str(place)).is_dir():
        raise ConfigError(
            f"cache.ram_disk is {place}, and there is no such folder", hint="--set cache.ram_disk=auto takes /dev/shm"
        )
