"""Which probes there are, which of them were asked for, and in what order they run."""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from diagnostics.core.errors import DoctorError, UsageError
from diagnostics.core.findings import Outcome, Status
from diagnostics.core.registry import BrokenPlugin, DuplicatePluginError, discover
from diagnostics.core.spelling import nearest
from diagnostics.preflight.probe import PreflightConfig, ProbeResult, Stage

if TYPE_CHECKING:
    from diagnostics.machine.contract import Machine

STAGE_ORDER = {stage: place for place, stage in enumerate(Stage)}
STAGES_OF_A_JOB = (Stage.DATA, Stage.MODEL, Stage.DRY_RUN)  # they need a CONFIG
STAGES_OF_HOSTS = (Stage.HOSTS,)  # they need several hosts


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """One probe, see probe.py for the meaning of its fields."""

    code: str
    name: str
    stage: Stage
    requires: tuple[str, ...]
    examine: Callable[[Machine, PreflightConfig], ProbeResult]

    @property
    def title(self) -> str:
        """The name for people."""
        return self.name.replace("-", " ")


def load_probes(package: ModuleType) -> tuple[list[Probe], list[Outcome]]:
    """Returns the probes of a package, and a CRASHED outcome for each file that is none but should be."""
    broken: list[BrokenPlugin] = []
    try:
        modules = discover(package, broken=broken)
    except DuplicatePluginError as error:
        raise DoctorError(str(error), hint="give one of them a code of its own") from error
    probes: list[Probe] = []
    for code, module in modules.items():
        try:
            probes.append(_probe(code, module))
        except (AttributeError, TypeError, ValueError) as error:
            broken.append(BrokenPlugin(name=module.__name__, path=str(module.__file__), error=error))
    return probes, [_crashed(plugin) for plugin in broken]


def _probe(code: str, module: ModuleType) -> Probe:
    return Probe(
        code=code,
        name=module.NAME,
        stage=Stage(module.STAGE),
        requires=tuple(getattr(module, "REQUIRES", ())),
        examine=module.probe,
    )


def _crashed(plugin: BrokenPlugin) -> Outcome:
    code = _declared_code(Path(plugin.path)) or "P???"
    number = int(code[1]) - 1 if code[1].isdigit() else 0
    name = plugin.name.rpartition(".")[2].replace("_", "-")
    return Outcome(
        code=code,
        name=name,
        stage=list(Stage)[number],
        status=Status.CRASHED,
        title=name.replace("-", " "),
        seconds=0.0,
        reason=f"{plugin.path} cannot be loaded: {type(plugin.error).__name__}: {plugin.error}",
        detail="".join(traceback.format_exception(plugin.error)),
    )


def _declared_code(path: Path) -> str:
    """Returns the CODE that a file would have had, read from its text: it could not be imported."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    found = re.search(r'^CODE\b[^=]*=\s*["\'](P[1-9]\d\d)["\']', text, re.MULTILINE)
    return found[1] if found else ""


def in_order(probes: Sequence[Probe]) -> list[Probe]:
    """Returns the probes by stage and code, each after those it requires.

    A required probe that is not among them orders nothing. Raises DoctorError for a circle.
    """
    by_code = {probe.code: probe for probe in probes}
    sorter = TopologicalSorter({probe.code: [c for c in probe.requires if c in by_code] for probe in probes})
    try:
        sorter.prepare()
    except CycleError as error:
        raise DoctorError(f"probes require each other in a circle: {' -> '.join(error.args[1])}") from error
    ordered: list[Probe] = []
    ready: list[Probe] = []
    while sorter.is_active():
        ready.extend(by_code[code] for code in sorter.get_ready())
        ready.sort(key=lambda probe: (STAGE_ORDER[probe.stage], probe.code), reverse=True)
        ordered.append(ready.pop())
        sorter.done(ordered[-1].code)
    return ordered


def parse_stages(names: Iterable[str]) -> tuple[Stage, ...]:
    """Returns the stages of these names, in running order. Raises UsageError with the nearest name."""
    known = [stage.value for stage in Stage]
    wanted = list(names)
    for name in wanted:
        if name not in known:
            raise UsageError(f"unknown stage '{name}'{nearest(name, known)}", hint=f"stages: {', '.join(known)}")
    return tuple(stage for stage in Stage if stage in wanted)


def parse_skips(names: Iterable[str], probes: Sequence[Probe]) -> frozenset[str]:
    """Returns the codes meant by codes, probe names and stage names. Raises UsageError with the nearest name."""
    chosen: set[str] = set()
    known = [*Stage, *(probe.code for probe in probes), *(probe.name for probe in probes)]
    for name in names:
        matches = {probe.code for probe in probes if name in (probe.name, probe.stage) or name.upper() == probe.code}
        if not matches and name not in list(Stage):
            raise UsageError(
                f"unknown check or stage '{name}'{nearest(name, known)}",
                hint="list them: ups-doctor preflight --list",
            )
        chosen |= matches
    return frozenset(chosen)
