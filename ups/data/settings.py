"""The section `data` of a configuration: one problem's file, or several problems that one model run is trained on."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from diagnostics.api import Range

Task = Literal["advection1d", "burgers1d", "darcy2d", "reacdiff2d", "diffreact2d"]
Count = Annotated[int, Range(least=1)]
Positive = Annotated[float, Range(above=0)]
ShareBelowOne = Annotated[float, Range(least=0, below=1)]
Seed = Annotated[int, Range(least=0, most=2**32 - 1)]
SEVERAL = "several"  # what `data.task` is where `data.tasks` names the problems
OF_ONE = ("file", "parameter", "time_stride", "space_stride", "max_samples", "generate")  # keys that each task has


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerateConfig:
    """What `ups data generate --config` makes where the data file is absent."""

    samples: Count = 128
    resolution: Count = 128  # cells along each axis
    frames: Count = 41  # saved frames, time series only
    end_time: Positive = 2.0  # PDE time units; PDEBench runs to 2
    seed: Seed = 2022  # PDEBench's own
    mode: Literal["clean", "pdebench"] = "clean"  # Darcy: sparse solve, or PDEBench's time marching


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskConfig:
    """One of several problems: the keys are those of `data`."""

    task: Task
    name: str | None = None  # default: the task's own; of checkpoints, metrics and folders
    weight: Positive = 1.0  # its share is that of `data.balance` times this
    file: str | None = None
    parameter: float = 1.0
    time_stride: Count = 1
    space_stride: Count = 1
    max_samples: Count | None = None
    generate: GenerateConfig = field(default_factory=GenerateConfig)

    def __post_init__(self) -> None:
        if not re.fullmatch("[A-Za-z0-9_-]+", self.called):
            raise ValueError(f"the name '{self.name}' of a task is to have letters, digits, - and _ only")

    @property
    def called(self) -> str:
        """The name, or the task's."""
        return self.task if self.name is None else self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class BalanceConfig:
    """How the samples of an epoch are shared out among several problems; an epoch is as long as all data together."""

    by: Literal["equal", "size", "temperature"] = "equal"  # alike; as many as there are; size ** (1 / temperature)
    temperature: Positive = 2.0  # 1 is by size, a large one is equal
    batches: Literal["one", "mixed"] = "one"  # problems in a batch; mixed needs fields of the same shape


@dataclass(frozen=True, slots=True, kw_only=True)
class DataConfig:
    """Which file is read, and which part of it serves training, validation and test."""

    task: Task | Literal["several"] = "several"
    root: Path = Path("reports/data")
    file: str | None = None  # default: PDEBench's own file name for task and parameter
    parameter: float = 1.0  # advection speed beta, viscosity nu, Darcy forcing beta
    time_stride: Count = 1  # read every n-th frame
    space_stride: Count = 1  # read every n-th cell along each axis
    max_samples: Count | None = None
    test_fraction: ShareBelowOne = 0.1  # the FIRST samples of the file, as PDEBench takes them
    validation_fraction: ShareBelowOne = 0.1  # the samples after those
    generate: GenerateConfig = field(default_factory=GenerateConfig)
    tasks: tuple[TaskConfig, ...] = ()  # several problems in one run, in place of `task`
    balance: BalanceConfig = field(default_factory=BalanceConfig)

    def __post_init__(self) -> None:
        if not 0 < self.test_fraction + self.validation_fraction < 1:
            raise ValueError("test_fraction + validation_fraction must lie between 0 and 1")
        if (self.task == SEVERAL) != bool(self.tasks):
            said = "key 'data.task' is missing" if not self.tasks else f"data.task {self.task} stands beside data.tasks"
            raise ValueError(f"{said}: name one problem by task, or several by tasks")
        names = [one.called for one in self.tasks]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise ValueError(f"two of data.tasks are called '{twice}': give one of them another name")
        plain = DataConfig.__dataclass_fields__
        for key in OF_ONE if self.tasks else ():
            default = GenerateConfig() if key == "generate" else plain[key].default
            if getattr(self, key) != default:
                raise ValueError(f"data.{key} stands beside data.tasks: give it to the tasks that it is for")

    def only(self, one: TaskConfig) -> DataConfig:
        """Returns the section as it would be for one of the problems alone."""
        plain = DataConfig(
            task=one.task,
            root=self.root,
            test_fraction=self.test_fraction,
            validation_fraction=self.validation_fraction,
        )
        mine: dict[str, Any] = {key: getattr(one, key) for key in OF_ONE}
        return replace(plain, **mine)
