"""A configuration of several problems as one configuration a problem: what each would be trained by alone."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ups.config import UpsConfig
from ups.errors import ConfigError

TOGETHER = ("autoencoder", "operator")  # stages that several problems are trained by


def problems(config: UpsConfig) -> dict[str, UpsConfig]:
    """Returns by name what each problem's part of the run is; one problem is the run itself, and its name is ""."""
    if not config.data.tasks:
        return {"": config}
    return {
        one.called: replace(
            config,
            data=config.data.only(one),
            output=replace(config.output, dir=config.output.dir / "tasks" / one.called),
            cache=replace(config.cache, dir=config.cache_dir / one.called),
        )
        for one in config.data.tasks
    }


def problem(config: UpsConfig, task: str) -> UpsConfig:
    """Returns the part of one problem. Raises ConfigError where it is not named, or is none of the run's."""
    return problems(config)[chosen([one.called for one in config.data.tasks], task, "this configuration")]


def chosen(known: Sequence[str], task: str, of: str) -> str:
    """Returns `task` where it is one of the known names, "" where none is known or asked for. Raises ConfigError."""
    if task in known or not (known or task):
        return task
    if not known:
        raise ConfigError(f"{of} is of one problem, and --task names one of several", hint="leave --task out")
    if not task:
        raise ConfigError(f"{of} is of several problems: {', '.join(known)}", hint="name one with --task")
    close = difflib.get_close_matches(task, known, n=1, cutoff=0.5)
    nearest = f"; did you mean '{close[0]}'?" if close else ""
    raise ConfigError(f"{of} has no problem '{task}'{nearest}", hint=f"known: {', '.join(known)}")


def misfits(config: UpsConfig) -> Iterator[tuple[str, str]]:
    """Yields what does not go with several problems, each with what to do about it."""
    training, run = config.training, config.stages.run
    if not config.data.tasks:
        return
    later = next((name for name in run if name not in TOGETHER), None)
    if later is not None:
        yield f"stage {later} is trained on one problem, and data.tasks names several", "leave it out of stages.run"
    if training.strategy in ("fsdp2", "hsdp"):
        yield (
            f"training.strategy={training.strategy} shards one model, and data.tasks trains one a problem",
            "training.strategy=ddp",
        )
    if training.compile:
        yield (
            "training.compile needs batches that look alike, and those of data.tasks differ from problem to problem",
            "training.compile=false",
        )
    if training.micro_batch == "auto":
        yield (
            "training.micro_batch=auto tries one batch, and those of data.tasks differ from problem to problem",
            "training.micro_batch=N",
        )
