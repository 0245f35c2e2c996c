"""From what the user named to the models that are bisected."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from diagnostics.adapter import describe
from diagnostics.adapter.description import JobDescription
from diagnostics.bisection.case import Source
from diagnostics.bisection.targets.script_capture import capture_script
from diagnostics.core.errors import UsageError

if TYPE_CHECKING:
    from diagnostics.machine.contract import Child

NAMED = re.compile(r"(?P<module>[^:]+):(?P<name>[A-Za-z_][\w.]*)$")
CONFIGS = (".yaml", ".yml", ".json", ".toml")
CAPTURE = "capture"
BATCHES = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """What is to be bisected, and under which settings its trainer or its script runs it."""

    name: str
    sources: tuple[Source, ...]
    settings: Mapping[str, Any] = field(default_factory=dict)
    env: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def is_factory(target: str) -> bool:
    """Returns whether this is MODULE:FACTORY and no file."""
    return NAMED.match(target) is not None and not Path(target).is_file()


def model_of(
    named: str | None,
    script: Sequence[str],
    *,
    inputs: str | None,
    overrides: Sequence[str],
    stage: str,
    folder: Path,
    python: str,
    child: Child,
) -> Model:
    """Returns the model of a factory, a CONFIG (`named`) or a script. Raises UsageError, DoctorError."""
    if inputs and not NAMED.match(inputs):
        raise UsageError(f"--inputs {inputs}: a MODULE:NAME was expected", hint="for example: --inputs data:make_batch")
    if named is None:
        return _captured(script, folder / CAPTURE, inputs=inputs or "", python=python, child=child)
    if is_factory(named):
        return Model(name=shown(named), sources=(Source(factory=named, inputs=inputs or ""),))
    return _of_trainer(_described(named, overrides, python=python, child=child), named, stage)


def _captured(script: Sequence[str], folder: Path, *, inputs: str, python: str, child: Child) -> Model:
    one = capture_script(script, folder, python=python, child=child, inputs=inputs)
    return Model(name=one.name, sources=(one.source,), settings=one.settings, notes=one.notes)


def _described(target: str, overrides: Sequence[str], *, python: str, child: Child) -> JobDescription:
    path = Path(target)
    if path.suffix == ".py":
        raise UsageError(
            f"{target} is no CONFIG: name what builds the model in it, or have a run of it captured",
            hint=f"ups-doctor bisect-model {target}:make_model\nups-doctor bisect-model --script {target}",
        )
    if not path.exists() and path.suffix not in CONFIGS:
        raise UsageError(
            f"{target}: neither a file nor MODULE:FACTORY",
            hint="ups-doctor bisect-model package.model:Net --inputs package.data:make_batch",
        )
    return describe.describe(path, overrides, python=python, child=child)


def _of_trainer(about: JobDescription, target: str, stage: str) -> Model:
    if stage and about.models and stage not in about.models:
        raise UsageError(f"{target} has no model '{stage}'", hint=f"it has: {', '.join(about.models)}")
    sets = [word for override in about.overrides for word in ("--set", override)]
    adapter = (about.module, "inspect", str(about.config), "--steps", str(BATCHES), *sets)
    stages = [stage] if stage else list(about.models) or [""]
    return Model(
        name=target,
        sources=tuple(Source(adapter=adapter, stage=one) for one in stages),
        settings={"world": about.nproc, "threads": about.threads_per_rank},
        env={name: value for name, value in about.env.items() if name != "OMP_NUM_THREADS"},  # follows `threads`
    )


def shown(target: str) -> str:
    """Returns "resnet.Net" for resnet:Net and for models/resnet.py:Net; a CONFIG as it is."""
    found = NAMED.match(target)
    if found is None or Path(target).is_file():
        return target
    module = found["module"]
    return f"{Path(module).stem if module.endswith('.py') else module}.{found['name']}"
