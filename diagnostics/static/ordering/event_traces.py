"""Makes the traces of a project: only functions from which something interesting can be reached are entered. Pure."""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

from diagnostics.static.ordering.entry_points import EntryPoint, entries, passed_function
from diagnostics.static.ordering.evaluation_order import Arms, BranchArm, EvaluationStep, branch, planned
from diagnostics.static.ordering.event_order import CallEvent, Site, Trace
from diagnostics.static.ordering.traced_calls import CORE_WORDS, event_name, is_core, is_recorded, starts_group
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.context_managers import yield_of_context_manager
from diagnostics.static.program.functions import Function, is_generator, last_name
from diagnostics.static.program.project import Project, per_project

MAX_EVENTS = 800
MAX_CALLS = 3000  # of the project's functions that one trace enters
MAX_DEPTH = 14
MAX_TRACES = 400


@per_project
def event_traces(project: Project) -> tuple[Trace, ...]:
    """Returns the traces of everything in a project that starts something distributed."""
    return _Building(project).all()


@dataclass(slots=True)
class _Activation:
    """One function being run. `meanings`: what its parameters are, as the caller wrote it."""

    number: int
    function: Function
    meanings: dict[str, BranchArm | bool]
    lines: range | None = None  # of a context manager: those before its yield, or those behind


@dataclass(frozen=True, slots=True)
class _Closing:
    """What a context manager does when its block is left, behind `line`."""

    line: int
    target: Function
    one: EvaluationStep
    arms: Arms


@dataclass
class _Building:
    project: Project
    _plans: dict[tuple[int, bool], tuple[EvaluationStep, ...]] = field(default_factory=dict)
    _reaching: set[int] = field(default_factory=set)

    def all(self) -> tuple[Trace, ...]:
        interesting = self._interesting()
        self._reaching = {id(one) for one in interesting}
        found: list[Trace] = []
        for entry, start in entries(self.project, interesting):
            if len(found) < MAX_TRACES:
                found.append(_Tracing(self, Trace(entry, start)).trace())
        return tuple(found)

    def _interesting(self) -> list[Function]:
        """Returns the functions that call something interesting, and those that call them."""
        found: dict[int, Function] = {}
        waiting: list[Function] = []
        for word in sorted(CORE_WORDS):  # a set is gone through in another order in each process
            for call, function in self.project.calls_by_name.get(word, ()):
                if id(function) not in found and is_core(call, function, self.project):
                    found[id(function)] = function
                    waiting.append(function)
        while waiting:
            for _, caller in self._callers(waiting.pop()):
                if id(caller) not in found:
                    found[id(caller)] = caller
                    waiting.append(caller)
        return list(found.values())

    def _callers(self, function: Function) -> Iterator[tuple[ast.AST, Function]]:
        if isinstance(function.syntax, ast.Module):
            return
        yield from self.project.callers(function)
        yield from self._run_by_name.get(id(function), ())

    @cached_property
    def _run_by_name(self) -> dict[int, list[tuple[ast.AST, Function]]]:
        """The calls that only name a function which they run, `Fire(main)`, by the identity of the function."""
        found: dict[int, list[tuple[ast.AST, Function]]] = defaultdict(list)
        for call, caller in self.project.calls_by_name.get("Fire", []) + self.project.calls_by_name.get("run", []):
            for one in dict.fromkeys(passed_function(call, caller, self.project)):
                found[id(one)].append((call, caller))
        return found

    def plan(self, function: Function, *, as_script: bool) -> tuple[EvaluationStep, ...]:
        key = (id(function), as_script)
        if key not in self._plans:
            whole = planned(function.syntax, as_script=as_script)
            self._plans[key] = tuple(one for one in whole if self._matters(one, function))
        return self._plans[key]

    def _matters(self, one: EvaluationStep, function: Function) -> bool:
        if not isinstance(one.syntax, ast.Call):
            return any(True for _ in self.imported(one.syntax, function))
        return is_recorded(event_name(one.syntax, function, self.project)) or bool(self.entered(one, function))

    def entered(self, one: EvaluationStep, function: Function) -> tuple[Function, ...]:
        """Returns the project's functions that a planned call runs, as far as they reach something interesting."""
        if not isinstance(one.syntax, ast.Call):
            return ()
        found = self.project.targets(one.syntax, function) or tuple(passed_function(one.syntax, function, self.project))
        return tuple(
            target
            for target in found
            if (id(target) in self._reaching or _is_near(target)) and (one.looped or not is_generator(target))
        )

    def imported(self, node: ast.Import | ast.ImportFrom, function: Function) -> Iterator[Function]:
        """Yields the modules of the project that an import runs, as far as they do something interesting."""
        for alias in node.names:
            bound = alias.asname or alias.name.partition(".")[0]
            file = self.project.imported(bound, function.file)[0] or self.project.star_file(function.file, node)
            if file and file != function.file:
                module = self.project.module_of(self.project.by_path[file])
                if id(module) in self._reaching:
                    yield module


def _is_near(function: Function) -> bool:
    """Whether a function may matter without distributed calls: those that make data, models and optimizers."""
    words = [last_name(one.func) for one in function.nodes_of(ast.Call) if isinstance(one, ast.Call)]
    return any(is_recorded(word) or is_recorded(f".{word}") or starts_group(word) for word in words)


class _Tracing:
    def __init__(self, building: _Building, trace: Trace) -> None:
        self._building = building
        self._project = building.project
        self._trace = trace
        self._entered: set[tuple[int, int]] = set()
        self._modules: set[int] = set()
        self._count = 0

    def trace(self) -> Trace:
        entry = self._trace.entry
        self._run(_Activation(0, entry, {}), (), (), as_script=self._trace.start is not EntryPoint.UNCALLED)
        return self._trace

    def _run(self, here: _Activation, chain: tuple[Site, ...], arms: Arms, *, as_script: bool = False) -> None:
        open_blocks: list[_Closing] = []
        for one in self._building.plan(here.function, as_script=as_script):
            line = getattr(one.syntax, "lineno", 0)
            while open_blocks and open_blocks[-1].line < line:
                self._close(open_blocks.pop(), here, chain)
            inner = self._arms(one.arms, here)
            if inner is None or (here.lines is not None and line not in here.lines):
                continue
            if self._count > MAX_CALLS or len(self._trace.events) >= MAX_EVENTS:
                self._trace.cut = True
                return
            open_blocks += self._step(one, here, chain, _joined(arms, inner))
        while open_blocks:
            self._close(open_blocks.pop(), here, chain)

    def _close(self, closing: _Closing, here: _Activation, chain: tuple[Site, ...]) -> None:
        yields = yield_of_context_manager(closing.target)
        self._enter(closing.target, closing.one, here, chain, closing.arms, range(yields, sys.maxsize))

    def _step(self, one: EvaluationStep, here: _Activation, chain: tuple[Site, ...], arms: Arms) -> Iterator[_Closing]:
        """Records one step, and what it enters; gives back what runs when the block that it opens is left."""
        if not isinstance(one.syntax, ast.Call):
            for module in self._building.imported(one.syntax, here.function):
                if id(module) not in self._modules:
                    self._modules.add(id(module))
                    self._enter(module, one, here, chain, arms)
            return
        targets = self._building.entered(one, here.function)
        for number, target in enumerate(targets):
            key = (id(one.syntax), id(target))
            if key in self._entered or target is here.function or any(site.function is target for site in chain):
                continue
            self._entered.add(key)
            choice = (BranchArm(f"#{here.number}:{id(one.syntax)}", str(number), False, one.syntax),)
            inner = (*arms, *(choice if len(targets) > 1 else ()))
            yields = yield_of_context_manager(target)
            self._enter(target, one, here, chain, inner, range(yields) if yields else None)
            if yields:
                yield _Closing(self._last_line(one, here), target, one, inner)
        name = event_name(one.syntax, here.function, self._project)
        if is_recorded(name):
            index = len(self._trace.events)
            self._trace.events.append(CallEvent(index, one.syntax, here.function, name, chain, arms, one.statement))

    def _last_line(self, one: EvaluationStep, here: _Activation) -> int:
        """Returns where the `with` ends that a call stands in the head of; without one, the function."""
        for node in here.function.nodes_of((ast.With, ast.AsyncWith)):
            if any(inner is one.syntax for item in getattr(node, "items", ()) for inner in walk(item)):
                return getattr(node, "end_lineno", 0) or 0
        return sys.maxsize

    def _enter(
        self,
        target: Function,
        one: EvaluationStep,
        here: _Activation,
        chain: tuple[Site, ...],
        arms: Arms,
        lines: range | None = None,
    ) -> None:
        if len(chain) >= MAX_DEPTH:
            return
        self._count += 1
        meanings = self._meanings(one.syntax, target, here) if isinstance(one.syntax, ast.Call) else {}
        self._run(_Activation(self._count, target, meanings, lines), (*chain, Site(one.syntax, here.function)), arms)

    def _meanings(self, call: ast.Call, target: Function, here: _Activation) -> dict[str, BranchArm | bool]:
        """Returns what is known of a function's parameters as conditions: a constant, or the caller's condition."""
        shift = 1 if target.owner is not None and target.parameters[:1] in (("self",), ("cls",)) else 0
        given = {one.arg: one.value for one in call.keywords if one.arg}
        if not any(isinstance(one, ast.Starred) for one in call.args):
            given |= dict(zip(target.parameters[shift:], call.args, strict=False))
        found: dict[str, BranchArm | bool] = {}
        for name, value in (_defaults(target) | given).items():
            if isinstance(value, ast.Constant):
                found[name] = bool(value.value)
            elif isinstance(value, (ast.Name, ast.Attribute, ast.UnaryOp, ast.Compare)):
                text, turned, shared = branch(value)
                arm = self._arm(BranchArm(text, "no" if turned else "yes", shared, value), here)
                if arm is not None:
                    found[name] = arm
        return found

    def _arms(self, arms: Arms, here: _Activation) -> Arms | None:
        """Returns the arms of a call in this run of its function, None where it cannot be taken."""
        found: list[BranchArm] = []
        for arm in arms:
            known = here.meanings.get(arm.test)
            if isinstance(known, bool):
                if known != (arm.taken == "yes"):
                    return None
                continue
            one = self._arm(arm, here)
            if one is not None:
                found.append(one)
        return tuple(found)

    def _arm(self, arm: BranchArm, here: _Activation) -> BranchArm | None:
        known = here.meanings.get(arm.test)
        if isinstance(known, bool):
            return None
        if known is not None:
            same = arm.taken == "yes"
            return known if same else replace(known, taken="no" if known.taken == "yes" else "yes")
        return arm if arm.shared else replace(arm, test=f"{here.number}:{arm.test}")


def _defaults(function: Function) -> dict[str, ast.expr]:
    arguments = getattr(function.syntax, "args", None)
    if not isinstance(arguments, ast.arguments):
        return {}
    placed = [*arguments.posonlyargs, *arguments.args]
    found = {one.arg: value for one, value in zip(reversed(placed), reversed(arguments.defaults), strict=False)}
    named = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=False)
    return found | {one.arg: value for one, value in named if value is not None}


def _joined(outer: Arms, inner: Arms) -> Arms:
    known = {(one.test, one.taken) for one in outer}
    return (*outer, *(one for one in inner if (one.test, one.taken) not in known))
