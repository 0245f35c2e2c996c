"""A script that shows the failure by itself, tried in clean processes before it is handed over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from diagnostics.bisection.case import Configuration
from diagnostics.bisection.progress import BisectionProgress
from diagnostics.bisection.repro.check import Run, fails_alike, run_clean
from diagnostics.bisection.repro.plan import BEFORE_FORWARD, ScriptPlan
from diagnostics.bisection.repro.recorded_values import Values
from diagnostics.bisection.repro.subject import Subject, Subjects
from diagnostics.bisection.repro.text import script, what_happens
from diagnostics.bisection.repro.user_sources import UserSources
from diagnostics.bisection.repro.ways import Variant, variants, ways
from diagnostics.bisection.trial import Failure, FailureKind, ModuleNode
from diagnostics.bisection.tries.recording import Recording, merged, read_recording
from diagnostics.machine.contract import Child
from diagnostics.machine.facts import MachineError
from diagnostics.static.slicing.value_literals import NotTextError

HEALTHY = "it does not fail"
HANG_LIMIT_S = 20  # a rank that stands still for so long hangs
LIMIT_S = 120  # of any other script
MORE_RUNS = 2  # of a script that failed alike once
MORE_HANGS = 1
PHASE_WORDS = {
    "construct": " when it is constructed",
    "move": " when it is moved to its device",
    "wrap": " when it is wrapped",
    "forward": " in its forward",
    "backward": " in its backward",
    "optimizer": " in the optimizer's step",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptRequest:
    """What a script is to show."""

    case: Configuration
    failure: Failure
    modules: Sequence[str]
    within: str | None
    each: bool = False  # any of the modules fails alone
    model: str  # what the model is called
    nodes: Sequence[ModuleNode]
    torch: str = ""
    repeat: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Repro:
    """A script that failed alike `failed` of `runs` times; no text where none did, and `note` says why."""

    text: str = ""
    way: Variant | None = None
    needs: tuple[str, ...] = ()
    failed: int = 0
    runs: int = 0
    note: str = ""
    said: str = ""  # by a run that failed alike
    tried: tuple[str, ...] = ()


def find_repro(
    asked: ScriptRequest,
    recordings: Sequence[Path],
    sources: UserSources,
    python: str,
    child: Child,
    progress: BisectionProgress,
) -> Repro:
    """Returns the first script, the shortest form first, that fails alike in a clean process."""
    return _Search(asked, merged([read_recording(file) for file in recordings]), sources, python, child, progress).run()


class _Search:
    """Tries one way after another; `told` says why the earlier ones were not it."""

    def __init__(
        self,
        asked: ScriptRequest,
        recording: Recording,
        sources: UserSources,
        python: str,
        child: Child,
        progress: BisectionProgress,
    ) -> None:
        forward = asked.failure.phase not in BEFORE_FORWARD
        values = Values(python, child)
        self._asked, self._recording, self._python, self._child = asked, recording, python, child
        self._progress, self._forward = progress, forward
        self._subjects = Subjects(asked.case, recording, asked.nodes, sources, values, forward=forward)
        self._told: list[str] = []
        self._texts: set[str] = set()

    def run(self) -> Repro:
        """Returns what was found."""
        for way in ways(self._asked.case, self._paths(), self._constructions()):
            for one in variants(way, self._recording) if self._forward else [way]:
                found = self._one(one)
                if found.failed:
                    return replace(found, tried=tuple(self._told))
                if found.note != HEALTHY:
                    break
        return Repro(note="no script fails in the same way by itself", tried=tuple(self._told))

    def _paths(self) -> list[str]:
        """Returns the modules that may show it alone: any of several that fail each, none of several together."""
        modules = list(self._asked.modules)
        single = modules[:1] if len(modules) == 1 or self._asked.each else []
        return [*single, *([self._asked.within] if self._asked.within is not None else [])]

    def _constructions(self) -> list[str]:
        """Returns the constructors that never came to their end, the innermost first."""
        nodes = self._asked.nodes
        if self._asked.failure.phase != "construct":
            return []
        inside = {node.built_as: node.inside for node in nodes}
        name = next((node.built_as for node in reversed(nodes) if not node.built), "")
        found = [one for one in self._asked.modules[:1] if "#" in one]
        while name:
            found.append(name)
            name = inside.get(name, "")
        return list(dict.fromkeys(found))

    def _one(self, way: Variant) -> Repro:
        try:
            subject = self._subjects.subject(way)
        except NotTextError as reason:
            found = Repro(note=f"cannot be written down: {reason}")
        except SyntaxError as error:
            found = Repro(note=f"{error.filename}:{error.lineno} cannot be parsed")
        else:
            plan = _plan(self._asked, subject, self._recording)
            text = script(subject, plan, title="", seen="")
            if text in self._texts:
                return Repro(note=HEALTHY)
            self._texts.add(text)
            self._progress.doing(f"trying a script: {way.words}")
            found = _tried(self._asked, subject, plan, self._python, self._child)
        if not found.failed:
            self._told.append(f"{way.words}: {found.note}")
        return found


def _plan(asked: ScriptRequest, subject: Subject, recording: Recording) -> ScriptPlan:
    call = recording.call_of(subject.way.path)
    text = f"{subject.body}\n{' '.join(subject.build)}"
    return ScriptPlan(
        settings=asked.case.settings,
        failure=asked.failure,
        build=subject.build,
        inputs=subject.inputs,
        output=call.output if call is not None else None,
        units=_units(asked.nodes, subject.way.path),
        group="distributed" in text or "dist." in text or subject.way.imported,
        environ="environ" in text or subject.way.imported,
        seed=asked.case.seed,
        limit_s=HANG_LIMIT_S if asked.failure.kind is FailureKind.HANG else LIMIT_S,
    )


def _units(nodes: Sequence[ModuleNode], top: str) -> tuple[str, ...]:
    """Returns the items of the outermost containers below a module that have parameters."""
    prefix = f"{top}." if top else ""
    below = [node for node in nodes if node.path.startswith(prefix) and node.path != top]
    containers = [node.path for node in below if node.container]
    outer = [one for one in containers if not any(one.startswith(f"{other}.") for other in containers)]
    return tuple(
        node.path[len(prefix) :] for node in below if node.parameters and node.path.rpartition(".")[0] in outer
    )


def _tried(asked: ScriptRequest, subject: Subject, plan: ScriptPlan, python: str, child: Child) -> Repro:
    title = _title(asked, subject)
    text = script(subject, plan, title=title, seen="")
    runs: list[Run] = []
    most = max(asked.repeat, 1 + (MORE_HANGS if asked.failure.kind is FailureKind.HANG else MORE_RUNS))
    try:
        for number in range(most):
            runs.append(run_clean(text, python, child, limit_s=plan.limit_s))
            alike = sum(fails_alike(run, asked.failure) for run in runs)
            if not alike and number + 1 >= asked.repeat:
                return Repro(note=_otherwise(runs[-1]))
    except MachineError as error:
        return Repro(note=f"it could not be started: {error}")
    shown = next(run for run in runs if fails_alike(run, asked.failure))
    seen = f"{_ended(shown)}, {alike} of {len(runs)} times"
    return Repro(
        text=script(subject, plan, title=title, seen=f"{what_happens(asked.failure)}: {seen}"),
        way=subject.way,
        needs=subject.needs,
        failed=alike,
        runs=len(runs),
        said="\n".join(filter(None, (shown.stdout.strip(), shown.stderr.strip()))),
    )


def _title(asked: ScriptRequest, subject: Subject) -> str:
    kinds = {node.path: node.class_name for node in asked.nodes}
    path = subject.way.path
    construction = subject.way.construction.partition("#")[0].rpartition(".")[2]
    what = construction or kinds.get(path, "") or asked.model
    place = f" ({path} of {asked.model})" if path else f" ({asked.model})" if what != asked.model else ""
    settings = asked.case.settings
    where = "" if settings.wrapper == "none" else f" in {settings.wrapper.upper()}"
    phase = PHASE_WORDS.get(asked.failure.phase, "")
    torch = f", torch {asked.torch}" if asked.torch else ""
    return f"{what}{place}{where} {what_happens(asked.failure)}{phase}{torch}."


def _ended(run: Run) -> str:
    if len(run.codes) > 1:
        return f"exit codes of the ranks {list(run.codes)}"
    return f"exit code {run.returncode}" if run.returncode is not None else "no end"


def _otherwise(run: Run) -> str:
    if run.returncode is None:
        return "it did not come to its end"
    if not any(run.codes):
        return HEALTHY
    said = [
        line for line in run.stderr.splitlines() if line.strip() and not line.startswith((" ", "Extension modules"))
    ]
    return f"it fails otherwise: {_ended(run)}{': ' + said[-1][:160] if said else ''}"
