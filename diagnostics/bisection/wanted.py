"""What the user asked a bisection for. Data only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from diagnostics.bisection.case import Configuration, RunSettings, Source

READY = "ready.json"

DEFAULT = RunSettings(world=2, wrapper="ddp", steps=2)


@dataclass(frozen=True, slots=True, kw_only=True)
class BisectionRequest:
    """One bisection. `named`: the settings the user gave; these stay while a failing case is sought."""

    name: str  # of the model, as it is shown
    sources: tuple[Source, ...]  # a trainer may have several models
    script: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()  # about how the model was come by
    python: str
    env: Mapping[str, str] = field(default_factory=dict)  # that the job adds
    folder: Path
    named: Mapping[str, Any] = field(default_factory=dict)
    as_trained: Mapping[str, Any] = field(
        default_factory=dict
    )  # what a script or a trainer sets, where nobody else does
    repeat: int = 1
    deadline_s: float | None = None
    max_tries: int | None = None
    memory_bytes: int = 0
    jobs: int | None = None
    profile: bool = False
    environments: tuple[Environment, ...] = ()  # the minimal case is tried in each, too
    watch: bool = True  # the failing case is run once more, as a watched job
    command: str = ""
    resume: str = ""  # the command that goes on with it

    @property
    def cases(self) -> tuple[Configuration, ...]:
        """Returns the case that is expected to fail, of each model."""
        settings = RunSettings(**{**_fields(DEFAULT), **self.as_trained, **self.named})
        return tuple(Configuration(source=source, settings=settings) for source in self.sources)


def _fields(settings: RunSettings) -> dict[str, Any]:
    return {name: getattr(settings, name) for name in settings.__slots__}


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """One environment: of the user's own, one that was made earlier, or one that is still to be downloaded."""

    wanted: str  # "torch==2.9.1", or the path of a Python
    python: str = ""
    folder: Path | None = None  # None where it is the user's own
    words: tuple[str, ...] = ()  # pip's arguments
    packages: int = 0
    bytes: int | None = 0  # to download; None where the index does not tell
    problem: str = ""  # why it cannot be had

    @property
    def ready(self) -> bool:
        """Whether it can be used as it is."""
        return not self.problem and (self.folder is None or (self.folder / READY).is_file())
