"""Which calls make ranks meet: operations of torch.distributed, and those hidden in wrappers and trainers. Pure.

Hidden ones: the forward and backward of a wrapped model, state dicts of sharded ones, checkpoints that every rank
writes, metrics that gather, and every function of the project that does such a thing, at any depth.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from itertools import pairwise

from diagnostics.agent.shared import operations
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.declared_versions import DeclaredVersions
from diagnostics.static.program.distributed_names import RECORDED
from diagnostics.static.program.functions import Function, default_of, is_generator, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.spmd.entry_conditions import asks_for_sharded, may_run
from diagnostics.static.spmd.library_calls import FUNCTIONS, METHODS, OLD_NAMES, LibraryCall
from diagnostics.static.spmd.library_objects import WRAPPING, LibraryType, LibraryTypes, is_kept_local
from diagnostics.static.spmd.made_once import is_made_once

_HOMES = ("torch.distributed.", "torch.distributed.nn.", "torch.distributed.nn.functional.",
          "torch.distributed._functional_collectives.")  # fmt: skip
DDP = "torch.nn.parallel.DistributedDataParallel"
_GROUPS = (*operations.GROUPS, "process_group")
MOST_DEPTH = 12


class SyncKind(StrEnum):
    """How ranks meet in a call."""

    COLLECTIVE = "collective"
    PEER = "peer"  # send and recv: of two ranks
    GROUP = "group"  # new_group: all ranks of the world
    FORWARD = "forward"
    BACKWARD = "backward"


@dataclass(frozen=True, eq=False)
class CollectiveSite:
    """A call that makes ranks meet, itself or by what it runs.

    `op` is the operation, `chain` the calls that lead to it, from the one asked about to the operation itself.
    `sure` is False where it depends on what cannot be seen. `grouped`: in a group that may be smaller than the world.
    `guessed` is the name of a method on the way of which nothing but the name says that it is the project's.
    """

    op: str
    meeting: SyncKind
    chain: tuple[tuple[ast.Call, Function], ...]
    sure: bool = True
    grouped: bool = False
    label: str = ""
    guessed: str = ""

    @property
    def hidden(self) -> bool:
        """Whether the call's own text does not show that ranks meet in it."""
        return len(self.chain) > 1 or bool(self.label)

    @property
    def leaf(self) -> tuple[ast.Call, Function]:
        """The operation itself."""
        return self.chain[-1]


@dataclass(eq=False)
class CollectiveSites:
    """Answers for each call and function of a project whether ranks meet in it."""

    project: Project
    _functions: dict[int, CollectiveSite | None] = field(default_factory=dict)
    _calls: dict[int, CollectiveSite | None] = field(default_factory=dict)
    _meeting: dict[int, frozenset[int]] = field(default_factory=dict)

    @cached_property
    def objects(self) -> LibraryTypes:
        """What kind of wrapper or trainer an expression is."""
        return LibraryTypes(self.project)

    @cached_property
    def _sends_no_buffers(self) -> bool:
        """Whether each wrapper is told to broadcast no buffers, so that nobody meets in a forward."""
        wrappers = [call for call, _ in self.project.calls_by_canonical.get(DDP, ())]
        told = [_keyword(call, "broadcast_buffers") for call in wrappers]
        return bool(told) and all(isinstance(one, ast.Constant) and not one.value for one in told)

    def of_call(self, call: ast.Call, function: Function, depth: int = 0) -> CollectiveSite | None:
        """Returns how ranks meet in a call, None where they do not as far as is seen."""
        if id(call) not in self._calls:
            self._calls[id(call)] = self._of_call(call, function, depth)
        return self._calls[id(call)]

    def _of_call(self, call: ast.Call, function: Function, depth: int) -> CollectiveSite | None:
        own = self.own(call, function)
        if own is not None:
            return own
        targets = [one for one in self.project.targets(call, function) if not is_generator(one)]
        reached = [one for one in (self._entered(target, call, depth + 1) for target in targets) if one is not None]
        if not reached:
            return None
        inner = max(reached, key=_weight)
        if inner.meeting in (SyncKind.BACKWARD, SyncKind.FORWARD) and is_kept_local(call, function, self.project):
            return None
        left_open = self.hangs_on_kind(((call, function), inner.chain[0]))
        if left_open and self.project.calls_by_name.keys().isdisjoint(_SHARDING):
            return None
        sure = inner.sure and not left_open and (len(reached) == len(targets) or self.project.runs_all(call))
        guessed = inner.guessed or (last_name(call.func) if self.project.is_guess(call, function) else "")
        return CollectiveSite(
            inner.op, inner.meeting, ((call, function), *inner.chain), sure, inner.grouped, inner.label, guessed
        )

    def hangs_on_kind(self, way: Sequence[tuple[ast.Call, Function]]) -> bool:
        """Whether a way ends in what is done for sharded models alone, and no call on it is seen to give one."""
        return any(
            asks_for_sharded(*inner, self.project) and not self._gives_sharded(*outer) for outer, inner in pairwise(way)
        )

    def _gives_sharded(self, call: ast.Call, function: Function) -> bool:
        given = (*call.args, *(said.value for said in call.keywords))
        parts = (part for one in given for part in (one.elts if isinstance(one, (ast.List, ast.Tuple)) else [one]))
        return any(kind in _SHARDED for part in parts for kind in self.objects.of(part, function))

    def _entered(self, target: Function, call: ast.Call, depth: int) -> CollectiveSite | None:
        """Returns the first operation that a function reaches when it is called like this."""
        found = self.of_function(target, depth)
        if found is None or self._may_run(found, target, call):
            return found
        several = (self.of_call(one, target, depth) for one in self.interesting_calls(target))
        return max((one for one in several if one is not None and self._may_run(one, target, call)), key=_weight,
                   default=None)  # fmt: skip

    def _may_run(self, found: CollectiveSite, target: Function, call: ast.Call) -> bool:
        return may_run(found.chain, target, call, self.project)

    def of_function(self, function: Function, depth: int = 0) -> CollectiveSite | None:
        """Returns the first operation that a function reaches."""
        if id(function) in self._functions or depth > MOST_DEPTH:
            return self._functions.get(id(function))
        self._functions[id(function)] = None  # while it is being looked at: recursion adds nothing
        found = None
        for call in self.interesting_calls(function):
            reach = self.of_call(call, function, depth)
            if reach is not None and (found is None or _weight(reach) > _weight(found)):
                found = reach
        self._functions[id(function)] = found
        return found

    def meeting_in(self, function: Function) -> frozenset[int]:
        """Returns the identities of a function's nodes in which ranks meet: such calls, and what holds one."""
        if id(function) not in self._meeting:
            parents = self.project.file_with(function).parents
            found: set[int] = set()
            for node in function.nodes_of(ast.Call):
                if isinstance(node, ast.Call) and self.of_call(node, function) is not None:
                    around: ast.AST | None = node
                    while around is not None and id(around) not in found:
                        found.add(id(around))
                        around = parents.get(around)
            self._meeting[id(function)] = frozenset(found)
        return self._meeting[id(function)]

    def interesting_calls(self, function: Function) -> Iterator[ast.Call]:
        """Yields the calls of a function's own body."""
        yield from (node for node in function.nodes_of(ast.Call) if isinstance(node, ast.Call))

    # One call alone

    def own(self, call: ast.Call, function: Function) -> CollectiveSite | None:
        """Returns how ranks meet in what a call names itself."""
        name = self.project.name(call.func, function)
        op = name.rpartition(".")[2]
        if op in RECORDED and name.startswith("torch.distributed.") and name[: -len(op)] in _HOMES:
            return self._operation(op, call, function)
        if name in FUNCTIONS:
            op = name.rpartition(".")[2]
            sure = self._is_sure(FUNCTIONS[name])
            return CollectiveSite(op, SyncKind.COLLECTIVE, ((call, function),), sure, label=f"{name}()")
        return self._method(call, function)

    def _operation(self, op: str, call: ast.Call, function: Function) -> CollectiveSite:
        makes_group = op in operations.GROUP_MAKERS
        meeting = (
            SyncKind.PEER if op in operations.POINT_TO_POINT else SyncKind.GROUP if makes_group else SyncKind.COLLECTIVE
        )
        group = _group(call, op) if meeting is not SyncKind.GROUP else None
        grouped = group is not None and self._may_be_smaller(group, function)
        sure = not makes_group or not is_made_once(call, function, self.project)
        return CollectiveSite(op, meeting, ((call, function),), sure, grouped=grouped)

    def _may_be_smaller(self, group: ast.expr, function: Function) -> bool:
        """Whether a group may be another one than the world: not a parameter that nobody gives."""
        if isinstance(group, ast.Constant) and group.value is None:
            return False
        if last_name(group) in ("WORLD", "world", "_get_default_group"):
            return False
        if isinstance(group, ast.Name) and group.id in function.parameters and group.id not in function.assigned:
            given = [value for value, _ in self.project.arguments(group.id, function)]
            default = default_of(function, group.id)
            nothing = [one for one in (*given, default) if isinstance(one, ast.Constant) and one.value is None]
            return len(nothing) < len(given) + 1
        return True

    def _method(self, call: ast.Call, function: Function) -> CollectiveSite | None:
        if isinstance(call.func, ast.Attribute):
            name, receiver = call.func.attr, call.func.value
            if name in ("backward", "manual_backward"):
                return self._backward(call, function)
            if name == "full_tensor" and not call.args:
                sharded = bool(self.project.by_path[function.file].words & {"DTensor", "fully_shard", "clip_grad_norm_",
                                                                         "get_total_norm"})  # fmt: skip
                return CollectiveSite(
                    name, SyncKind.COLLECTIVE, ((call, function),), sharded, label="full_tensor() of a DTensor"
                )
            if name in ("log", "log_dict") and _is_true(_keyword(call, "sync_dist")):
                label = f"self.{name}(sync_dist=True)"
                return CollectiveSite(name, SyncKind.COLLECTIVE, ((call, function),), label=label)
            if name not in _METHOD_NAMES:
                name, receiver = "__call__", call.func  # `self.model(x)`: an attribute that is called itself
        else:
            name, receiver = "__call__", call.func
        for kind in self.objects.of(receiver, function):
            known = METHODS.get((kind, name))
            if known is not None and not self._is_before(known, function):
                quiet = name == "__call__" and self._sends_no_buffers
                if kind is LibraryType.DDP and (quiet or is_kept_local(call, function, self.project)):
                    continue
                meeting = SyncKind.FORWARD if name == "__call__" else SyncKind.COLLECTIVE
                label = f"the forward of {_a(kind)}" if name == "__call__" else f"{name}() of {_a(kind)}"
                sure = self._is_sure(known) and not (known.since and self._is_old(known, function))
                return CollectiveSite(name.strip("_"), meeting, ((call, function),), sure, label=label)
        return None

    def _is_before(self, known: LibraryCall, function: Function) -> bool:
        """Whether the project asks for a version of the library in which ranks do not meet in the call."""
        library = known.library.partition(" ")[0]
        versions = self.project.fact(DeclaredVersions)
        return bool(known.met_since) and versions.is_older(library, known.met_since, of=function.file)

    def _is_old(self, known: LibraryCall, function: Function) -> bool:
        """Whether the file imports a library by the name of versions in which the call may not have met."""
        names = self.project.imported_roots(function.file)
        return known.since not in names and bool(names & OLD_NAMES)

    def _is_sure(self, known: LibraryCall) -> bool:
        return known.always or any(file.words & known.words for file in self.project.python)

    def _backward(self, call: ast.Call, function: Function) -> CollectiveSite | None:
        """A backward, where the project wraps models whose gradients are then averaged."""
        if not self._is_wrapped_code(function) or self._is_of_bare_models(call, function):
            return None
        if is_kept_local(call, function, self.project):
            return None
        return CollectiveSite(
            "backward", SyncKind.BACKWARD, ((call, function),), False, label="backward() of a wrapped model"
        )

    def _is_of_bare_models(self, call: ast.Call, function: Function) -> bool:
        """Whether a loss comes from models alone that this function makes and nobody wraps."""
        loss = call.func.value if isinstance(call.func, ast.Attribute) and not call.args else call.args[0]
        names = _names_behind(loss, function)
        made = {
            name
            for name in names
            if (values := function.assigned.get(name))
            and all(isinstance(one, ast.Call) and self._is_made_bare(one, function) for one in values)
        }
        called = {
            one.func.id
            for name in names
            for value in function.assigned.get(name, ())
            for one in walk(value)
            if isinstance(one, ast.Call) and isinstance(one.func, ast.Name)
        }
        models = called & made
        unknown = {one for one in called if one in function.parameters or one in function.assigned} - made
        return bool(models) and not unknown and not any(
            isinstance(one, ast.Call) and any(isinstance(part, ast.Name) and part.id in models for part in one.args)
            for one in function.nodes_of(ast.Call)
        )  # fmt: skip

    def _is_made_bare(self, call: ast.Call, function: Function) -> bool:
        """Whether a call makes a model of the project, and hands none to a wrapper: `Net()`, no `DDP(Net())`."""
        wrapped = (self.project.name(call.func, function) in WRAPPING) and bool(call.args)
        return not wrapped and next(self.project.kinds(call, function, 1), None) is not None

    def _is_wrapped_code(self, function: Function, depth: int = 3) -> bool:
        """Whether the function stands beside a wrapper, or is called from where one is."""
        if (
            function.file in self.objects.wrapping_files
            or "manual_backward" in self.project.by_path[function.file].words
        ):
            return True
        callers = self.project.callers(function) if depth and function.name != "<module>" else []
        return any(self._is_wrapped_code(caller, depth - 1) for _, caller in callers[:6])


_SHARDED = frozenset([LibraryType.FSDP, LibraryType.DEEPSPEED])
# What shards a model, or may where its configuration says so.
_SHARDING = frozenset(["FullyShardedDataParallel", "FSDP", "fully_shard", "distribute_tensor", "distribute_module",
                       "Accelerator", "Fabric", "Trainer"])  # fmt: skip
_METHOD_NAMES = frozenset(name for _, name in METHODS)


def _names_behind(value: ast.expr, function: Function) -> set[str]:
    """Returns the names that a value is made of in its function, through what they are assigned."""
    found: set[str] = set()
    waiting = [value]
    while waiting:
        for node in walk(waiting.pop()):
            if isinstance(node, ast.Name) and node.id not in found:
                found.add(node.id)
                waiting += function.assigned.get(node.id, ())
    return found


def _a(kind: LibraryType) -> str:
    return f"{'an' if kind[0] in 'AEIO' else 'a'} {kind}"


_OF_ALL = {SyncKind.COLLECTIVE: 2, SyncKind.GROUP: 2, SyncKind.BACKWARD: 1}  # gradients are averaged always


def _weight(reach: CollectiveSite) -> tuple[bool, bool, int]:
    return reach.sure, not reach.grouped, _OF_ALL.get(reach.meeting, 0)


def _keyword(call: ast.Call, name: str) -> ast.expr | None:
    return next((one.value for one in call.keywords if one.arg == name), None)


def _is_true(value: ast.expr | None) -> bool:
    return isinstance(value, ast.Constant) and value.value is True


def _group(call: ast.Call, op: str) -> ast.expr | None:
    """Returns what is given as the group of an operation."""
    value = next((value for name in _GROUPS if (value := _keyword(call, name)) is not None), None)
    parameters = operations.PARAMETERS.get(op, ())
    name = operations.GROUP.get(op, "group")
    at = parameters.index(name) if name in parameters else len(call.args)
    by_position = at < len(call.args) and not any(isinstance(one, ast.Starred) for one in call.args[: at + 1])
    return call.args[at] if value is None and by_position else value
