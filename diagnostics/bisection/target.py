"""From what the user named to the models that are bisected."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from diagnostics import job
from diagnostics.bisection.case import Source
from diagnostics.checks import JobDescription
from diagnostics.errors import UsageError

if TYPE_CHECKING:
    from diagnostics.machine.contract import Child

NAMED = re.compile(r"(?P<module>[^:]+):(?P<name>[A-Za-z_][\w.]*)$")
CONFIGS = (".yaml", ".yml", ".json", ".toml")


def is_factory(target: str) -> bool:
    """Returns whether this is MODULE:FACTORY and no file."""
    return NAMED.match(target) is not None and not Path(target).is_file()


def factory_source(target: str, inputs: str | None) -> Source:
    """Returns the model that a factory makes. Raises UsageError for inputs of another form."""
    if inputs and not NAMED.match(inputs):
        raise UsageError(f"--inputs {inputs}: a MODULE:NAME was expected", hint="for example: --inputs data:make_batch")
    return Source(factory=target, inputs=inputs or "")


def described(target: str, overrides: Sequence[str], *, python: str, child: Child) -> JobDescription:
    """Returns what the trainer of a CONFIG says. Raises UsageError, DoctorError."""
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
    return job.describe(path, overrides, python=python, child=child)


def adapter_source(about: JobDescription, *, stage: str = "", batches: int = 2) -> Source:
    """Returns the model that a trainer hands over."""
    sets = [word for override in about.overrides for word in ("--set", override)]
    return Source(
        adapter=(about.module, "inspect", str(about.config), "--steps", str(batches), *sets), stage=stage
    )


def shown(target: str) -> str:
    """Returns "resnet.Net" for resnet:Net and for models/resnet.py:Net; a CONFIG as it is."""
    found = NAMED.match(target)
    if found is None or Path(target).is_file():
        return target
    module = found["module"]
    return f"{Path(module).stem if module.endswith('.py') else module}.{found['name']}"
