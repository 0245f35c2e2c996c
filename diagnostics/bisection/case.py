"""One case to try: which model, under which settings, what of it replaced. Data only, JSON either way."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

WRAPPERS = ("none", "ddp", "fsdp2", "fsdp1", "fabric")


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where model and batches come from: a factory, a trainer's adapter, or a folder captured from a script."""

    factory: str = ""  # "module:name" or "file.py:name"
    inputs: str = ""  # the same; "" where forward takes nothing
    adapter: tuple[str, ...] = ()  # module and arguments of its verb `inspect`, which hands models over
    stage: str = ""  # which of the adapter's models
    capture: str = ""  # folder with what a script's run left


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSettings:
    """How the model is run. The defaults are the simplest values: what a failure does not need is set to these."""

    world: int = 1
    wrapper: str = "none"  # one of WRAPPERS
    options: tuple[tuple[str, Any], ...] = ()  # of the wrapper: ("find_unused_parameters", True), sorted
    backend: str = "gloo"
    device: str = "cpu"
    compile: bool = False
    amp: str = ""  # "bfloat16", "float16"
    accumulate: int = 1  # backward passes before an optimizer step
    checkpointing: bool = False  # activation checkpointing of each block that holds other modules
    workers: int = 0  # of a DataLoader that hands over the batches
    threads: int = 1  # intra-op and OMP
    steps: int = 1
    env: tuple[tuple[str, str], ...] = ()  # ("NCCL_P2P_DISABLE", "1"), sorted


@dataclass(frozen=True, slots=True, kw_only=True)
class Edits:
    """What is changed in the model. Paths are dotted, as in named_modules(); "" is the whole model.

    A stand-in keeps the module with its parameters, buffers, names, dtype and device; its forward is replaced by one
    that gives outputs of the recorded structure, depends on its inputs and uses its parameters; its children are
    never called, and the hooks that the user's code put on it are gone.
    """

    stand_ins: tuple[str, ...] = ()  # sorted
    alone: str | None = None  # only this module is run, on inputs as it was given them; "" is the whole model
    cuts: tuple[tuple[str, tuple[int, ...]], ...] = ()  # Sequential or ModuleList -> places kept, sorted
    batch: int | None = None  # items kept of each batch; None: all
    not_built: tuple[str, ...] = ()  # "package.module.Class#2": the third one built has no constructor but Module's
    overrides: tuple[str, ...] = ()  # "operator.depths=[1]": keys of a trainer's CONFIG


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """One case. Equal cases have equal keys, across runs too."""

    source: Source
    settings: RunSettings = field(default_factory=RunSettings)
    edits: Edits = field(default_factory=Edits)
    seed: int = 0

    def as_json(self) -> dict[str, Any]:
        """Returns plain lists, dicts and values."""
        return asdict(self)

    @property
    def key(self) -> str:
        """A name for this case, for caches and folders."""
        return hashlib.sha256(json.dumps(self.as_json(), sort_keys=True).encode()).hexdigest()[:16]

    def set(self, **changes: Any) -> Configuration:
        """Returns the case with other settings."""
        return replace(self, settings=replace(self.settings, **changes))

    def edit(self, **changes: Any) -> Configuration:
        """Returns the case with other edits."""
        return replace(self, edits=replace(self.edits, **changes))

    def without(self, *paths: str) -> Configuration:
        """Returns the case in which these modules, too, are stand-ins."""
        return self.edit(stand_ins=tuple(sorted({*self.edits.stand_ins, *paths})))


def read_case(data: Mapping[str, Any]) -> Configuration:
    """Returns the case that `as_json` wrote. Raises KeyError, TypeError, ValueError where it is not one."""
    return Configuration(
        source=Source(**_known(Source, data["source"])),
        settings=RunSettings(**_known(RunSettings, data["settings"])),
        edits=Edits(**_known(Edits, data["edits"])),
        seed=int(data["seed"]),
    )


def _known(kind: type, data: Mapping[str, Any]) -> dict[str, Any]:
    return {one.name: _frozen(data[one.name]) for one in fields(kind) if one.name in data}


def _frozen(value: Any) -> Any:
    return tuple(_frozen(one) for one in value) if isinstance(value, list) else value
