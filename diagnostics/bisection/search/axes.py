"""The settings a failure may need: what each is called, its simplest value, and the other values worth a try."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Any

from diagnostics.bisection.case import RunSettings
from diagnostics.bisection.trial import Failure, FailureKind

SIMPLEST = RunSettings()
EARLY = ("import", "group", "construct", "move")
TITLES = {
    "world": "world size",
    "wrapper": "wrapper",
    "steps": "steps",
    "backend": "backend",
    "device": "device",
    "compile": "compile",
    "amp": "amp",
    "accumulate": "accumulation",
    "checkpointing": "activation checkpointing",
    "workers": "workers",
    "threads": "threads",
}
WRAPPER_OPTIONS: dict[str, tuple[tuple[str, Any], ...]] = {
    "ddp": (("find_unused_parameters", True), ("broadcast_buffers", False), ("static_graph", True)),
    "fsdp1": (("use_orig_params", True),),
}
GPU_SWITCHES = (("CUDA_LAUNCH_BLOCKING", "1"), ("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True"))
NCCL_SWITCHES = (("NCCL_P2P_DISABLE", "1"), ("NCCL_SHM_DISABLE", "1"))
CPU_SWITCHES = (("ATEN_CPU_CAPABILITY", "default"),)  # kernels without vector instructions


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One setting with a value. `kind` is a field of Settings; `name` the option's or variable's, where it is one."""

    kind: str
    value: Any
    name: str = ""

    @property
    def axis(self) -> str:
        """What people call it."""
        if self.kind == "env":
            return f"env {self.name}"
        return self.name or TITLES[self.kind]

    @property
    def words(self) -> str:
        """The value as people say it."""
        return _words(self.value)

    @property
    def simplest(self) -> str:
        """The simplest value as people say it."""
        if self.kind == "env":
            return "unset"
        return "default" if self.name else _words(getattr(SIMPLEST, self.kind))

    def on(self, settings: RunSettings) -> RunSettings:
        """Returns the settings with this one."""
        changed: dict[str, Any] = {self.kind: self.value}
        if self.name:
            given = {**dict(getattr(settings, self.kind)), self.name: self.value}
            changed[self.kind] = tuple(sorted(given.items()))
        return replace(settings, **changed)


def choices(settings: RunSettings) -> tuple[Choice, ...]:
    """Returns what is not at its simplest, in the order of the table; options and variables one by one."""
    found = []
    for kind in (*TITLES, *(one.name for one in fields(RunSettings) if one.name not in TITLES)):
        value = getattr(settings, kind)
        if kind in ("options", "env"):
            found += [Choice(kind=kind, name=name, value=one) for name, one in value]
        elif value != getattr(SIMPLEST, kind):
            found.append(Choice(kind=kind, value=value))
    return tuple(found)


def with_only(kept: tuple[Choice, ...]) -> RunSettings:
    """Returns the simplest settings with these; an option without its wrapper goes, too."""
    settings = SIMPLEST
    for choice in kept:
        settings = choice.on(settings)
    return settings if settings.wrapper != SIMPLEST.wrapper else replace(settings, options=())


def smaller(choice: Choice) -> tuple[Choice, ...]:
    """Returns simpler values of a needed setting that are not the simplest."""
    if isinstance(choice.value, int) and not isinstance(choice.value, bool) and choice.kind != "options":
        least = {"world": 2, "steps": 2, "accumulate": 2, "workers": 1, "threads": 2}.get(choice.kind)
        return (replace(choice, value=least),) if least is not None and choice.value > least else ()
    return ()


def others(settings: RunSettings, failure: Failure, *, threads: int, gpus: int) -> Iterator[Choice]:
    """Yields values that the settings do not have, the cheap ones first; each is tried by itself.

    What fails before a model is wrapped or stepped knows nothing of how that would be done.
    """
    if failure.phase in EARLY:
        yield from _of_the_device(settings, failure, gpus)
        return
    if settings.steps == 1:
        yield Choice(kind="steps", value=2)
    for kind, value in (("amp", "bfloat16"), ("accumulate", 2), ("checkpointing", True), ("workers", 2)):
        if getattr(settings, kind) == getattr(SIMPLEST, kind):
            yield Choice(kind=kind, value=value)
    if threads > 1 and settings.threads == 1:
        yield Choice(kind="threads", value=threads)
    yield from _options(settings)
    yield from _of_the_device(settings, failure, gpus)
    if (
        not settings.compile and failure.kind is not FailureKind.HANG
    ):  # a compiler is given minutes before it counts as stuck
        yield Choice(kind="compile", value=True)


def _options(settings: RunSettings) -> Iterator[Choice]:
    given = dict(settings.options)
    for name, value in WRAPPER_OPTIONS.get(settings.wrapper, ()):
        if name not in given:
            yield Choice(kind="options", name=name, value=value)


def _of_the_device(settings: RunSettings, failure: Failure, gpus: int) -> Iterator[Choice]:
    switches: tuple[tuple[str, str], ...] = ()
    if settings.device != "cpu":
        switches = (*(NCCL_SWITCHES if settings.backend == "nccl" else ()), *GPU_SWITCHES)
    elif gpus >= settings.world:
        yield Choice(kind="device", value="cuda")
    elif failure.kind in (FailureKind.SIGNAL, FailureKind.NONFINITE):
        switches = CPU_SWITCHES
    given = dict(settings.env)
    yield from (Choice(kind="env", name=name, value=value) for name, value in switches if name not in given)


def _words(value: Any) -> str:
    match value:
        case True:
            return "on"
        case False | "":
            return "off"
        case _:
            return str(value)
