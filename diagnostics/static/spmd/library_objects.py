"""What a value is an object of, where that decides whether ranks meet: a wrapper, a trainer, a metric. Pure."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project

MOST_ROUNDS = 6


class LibraryType(StrEnum):
    """Objects of libraries whose methods make ranks meet; the value is how they are called in a sentence."""

    DDP = "DistributedDataParallel model"
    APEX = "DistributedDataParallel model of Apex"  # ranks meet in its backward alone: it sends no buffers around
    FSDP = "FullyShardedDataParallel model"
    ACCELERATOR = "Accelerator"
    FABRIC = "Fabric"
    LIGHTNING_TRAINER = "Lightning Trainer"
    LIGHTNING_STRATEGY = "Lightning strategy"
    LIGHTNING_MODULE = "LightningModule"
    HF_TRAINER = "Transformers Trainer"
    DEEPSPEED = "DeepSpeed engine"
    METRIC = "torchmetrics metric"
    ZERO = "ZeroRedundancyOptimizer"


_MAKERS = {
    "torch.nn.parallel.DistributedDataParallel": LibraryType.DDP,
    "apex.parallel.DistributedDataParallel": LibraryType.APEX,
    "torch.distributed.fsdp.FullyShardedDataParallel": LibraryType.FSDP,
    "torch.distributed.fsdp.fully_shard": LibraryType.FSDP,
    "fairscale.nn.FullyShardedDataParallel": LibraryType.FSDP,
    "accelerate.Accelerator": LibraryType.ACCELERATOR,
    "lightning.fabric.Fabric": LibraryType.FABRIC,
    "lightning.pytorch.Trainer": LibraryType.LIGHTNING_TRAINER,
    "transformers.Trainer": LibraryType.HF_TRAINER,
    "transformers.Seq2SeqTrainer": LibraryType.HF_TRAINER,
    "deepspeed.initialize": LibraryType.DEEPSPEED,
    "torch.distributed.optim.ZeroRedundancyOptimizer": LibraryType.ZERO,
}
# What a base class makes of the objects of the project's own classes.
_BASES = {
    "lightning.pytorch.LightningModule": LibraryType.LIGHTNING_MODULE,
    "transformers.Trainer": LibraryType.HF_TRAINER,
    "transformers.Seq2SeqTrainer": LibraryType.HF_TRAINER,
    "torchmetrics.Metric": LibraryType.METRIC,
}
_PREPARERS = frozenset([LibraryType.ACCELERATOR, LibraryType.FABRIC])
_WRAPPERS = frozenset([LibraryType.DDP, LibraryType.APEX, LibraryType.FSDP, LibraryType.DEEPSPEED])
# What makes a wrapped model of a model.
WRAPPING = frozenset(name for name, kind in _MAKERS.items() if kind in _WRAPPERS)
# Names that every user of the library gives such an object, where nothing else is known of it.
_BY_NAME = {"accelerator": LibraryType.ACCELERATOR, "fabric": LibraryType.FABRIC}
_LIGHTNING, _TRANSFORMERS = ("lightning", "pytorch_lightning"), ("transformers",)
# Families of torchvision.models that hold batch normalisation, frozen or not: they have buffers.
_BUFFERED = re.compile(
    r"^torchvision\.models\.(?:\w+\.)?(?:(?:wide_)?resne[xt]\w*|densenet\d+|vgg\d+_bn|mobilenet_v\w+|mnasnet\w+|"
    r"shufflenet_\w+|efficientnet_\w+|regnet_\w+|googlenet|inception_v3|deeplabv3_\w+|fcn_\w+|lraspp_\w+|"
    r"r2plus1d_18|r3d_18|mc3_18|s3d)$"
)
_MAKE_BUFFERS = frozenset(["BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "register_buffer", "SyncBatchNorm"])
# Under its no_sync(), FSDP reduces nothing either, and still gathers the weights of each layer for the backward.
_SHARDS = frozenset(["FullyShardedDataParallel", "FSDP", "fully_shard", "deepspeed"])
_PREPARES = {"prepare", "prepare_model", "setup", "setup_module"}


@dataclass(eq=False)
class LibraryTypes:
    """Answers for expressions of a project."""

    project: Project
    _known: dict[int, tuple[ast.expr, tuple[LibraryType, ...]]] = field(default_factory=dict)

    @cached_property
    def wrapping_files(self) -> frozenset[str]:
        """The files in which models are wrapped or prepared."""
        makers = [name for name, kind in _MAKERS.items() if kind in _WRAPPERS]
        found = {function.file for name in makers for _, function in self.project.calls_by_canonical.get(name, ())}
        for name in _PREPARES:
            for call, function in self.project.calls_by_name.get(name, ()):
                if isinstance(call.func, ast.Attribute) and _PREPARERS.intersection(self.of(call.func.value, function)):
                    found.add(function.file)
        return frozenset(found)

    def of(self, value: ast.expr, function: Function) -> tuple[LibraryType, ...]:
        """Returns what a value may be an object of."""
        if id(value) not in self._known:
            self._known[id(value)] = value, ()  # while it is being looked at; kept, so that its identity stays its own
            self._known[id(value)] = value, tuple(dict.fromkeys(self._of(value, function, MOST_ROUNDS)))
        return self._known[id(value)][1]

    def _of(self, value: ast.expr, function: Function, rounds: int) -> Iterator[LibraryType]:
        if rounds < 0:
            return
        match value:
            case ast.Call():
                yield from self._of_call(value, function, rounds)
            case ast.Name(id="self"):
                yield from self._of_class(function)
            case ast.Name():
                yield from self._of_name(value, function, rounds)
            case ast.Attribute():
                yield from self._of_attribute(value, function, rounds)
            case ast.IfExp() if _takes_out(value):
                return
            case ast.IfExp():
                yield from self._of(value.body, function, rounds - 1)
                yield from self._of(value.orelse, function, rounds - 1)
            case ast.Await() | ast.NamedExpr():
                yield from self._of(value.value, function, rounds - 1)
            case _:
                return

    def _of_call(
        self, call: ast.Call, function: Function, rounds: int, left_out: Collection[ast.ClassDef] = ()
    ) -> Iterator[LibraryType]:
        name = self.project.name(call.func, function)
        if name in _MAKERS:
            yield _MAKERS[name]
        elif name.startswith("torchmetrics."):
            if not _keeps_to_itself(call):
                yield LibraryType.METRIC
        elif isinstance(call.func, ast.Attribute) and call.func.attr in ("to", "cuda", "train", "eval"):
            yield from self._of(call.func.value, function, rounds - 1)
        elif name == "torch.compile" and call.args:
            yield from self._of(call.args[0], function, rounds - 1)
        else:
            for kind in self.project.kinds(call, function, 1):
                yield from self._of_bases(kind)
            for target in self.project.targets(call, function):
                for node in target.nodes_of(ast.Return) if target.owner not in left_out else ():
                    if isinstance(node, ast.Return) and node.value is not None:
                        yield from self._of(node.value, target, rounds - 2)

    def _of_name(self, node: ast.Name, function: Function, rounds: int) -> Iterator[LibraryType]:
        name = node.id
        scope: Function | None = function
        while scope is not None:
            loops = self.project.gone_through(scope).get(name, ())
            for item, where in [one for over in loops[:2] for one in self.project.items(over, scope)]:
                yield from self._of(item, where, rounds - 1)
            if name in scope.assigned or loops:
                for value in scope.assigned.get(name, ())[:6]:
                    if scope is not function or not self._is_set_later(value, node, scope):
                        yield from self._of(value, scope, rounds - 1)
                break
            if name in scope.parameters:
                for value, caller in self.project.arguments(name, scope):
                    yield from self._of(value, caller, rounds - 1)
                break
            scope = scope.outer
        if name in _BY_NAME:
            yield _BY_NAME[name]
        if name == "trainer" and self._uses(function, _LIGHTNING):
            yield LibraryType.LIGHTNING_TRAINER
        if name in ("module", "pl_module") and name in function.parameters and self._uses(function, _LIGHTNING):
            yield LibraryType.LIGHTNING_MODULE
        if name == "trainer" and self._uses(function, _TRANSFORMERS):
            yield LibraryType.HF_TRAINER

    def _is_set_later(self, value: ast.expr, use: ast.Name, function: Function) -> bool:
        """Whether a name is given a value behind its use, and no loop comes back: `model = FSDP(model)` at the end."""
        line = getattr(use, "lineno", 0)
        if not line or value.lineno <= line or function.name == "<module>":
            return False
        loops = function.nodes_of((ast.For, ast.AsyncFor, ast.While))
        return not any(one.lineno <= line and value.lineno <= (one.end_lineno or 0) for one in loops)  # type: ignore[attr-defined]

    def _of_attribute(self, value: ast.Attribute, function: Function, rounds: int) -> Iterator[LibraryType]:
        if value.attr == "module":
            return  # what is inside the wrapper
        if value.attr in ("strategy", "training_type_plugin"):
            yield LibraryType.LIGHTNING_STRATEGY
        if value.attr == "trainer" and self._uses(function, _LIGHTNING):
            yield LibraryType.LIGHTNING_TRAINER
        if value.attr == "trainer" and self._uses(function, _TRANSFORMERS):
            yield LibraryType.HF_TRAINER
        if value.attr.lstrip("_") in _BY_NAME:
            yield _BY_NAME[value.attr.lstrip("_")]
        others = self._overriding(function) if isinstance(value.value, ast.Name) and value.value.id == "self" else ()
        for assigned, where in self.project.attribute_values(value, function)[:6]:
            if where.owner in others:
                continue
            if others and isinstance(assigned, ast.Call):
                yield from self._of_call(assigned, where, rounds - 1, others)
            else:
                yield from self._of(assigned, where, rounds - 1)

    def _overriding(self, method: Function) -> list[ast.ClassDef]:
        """Returns the classes that derive from a method's and have one of their own in its place.

        Their objects never come to it: what they keep under a name, and their other methods give, is not meant there.
        """
        kind, name = self.project.class_of(method), method.name.rpartition(".")[2]
        if kind is None or name == "__init__":
            return []
        return [
            one.owner
            for one in self.project.by_name.get(name, ())
            if one.owner is not None and one.owner is not kind and self._derives(one.owner, kind)
            and not any(last_name(call.func) == "super" for call in one.nodes_of(ast.Call))  # type: ignore[attr-defined]
        ]  # fmt: skip

    def _derives(self, kind: ast.ClassDef, base: ast.ClassDef, depth: int = 3) -> bool:
        return any(
            one is base or (depth > 0 and self._derives(one, base, depth - 1)) for one in self.project.bases(kind)
        )

    def _of_class(self, function: Function) -> Iterator[LibraryType]:
        kind = self.project.class_of(function)
        if kind is not None:
            yield from self._of_bases(kind)

    def _of_bases(self, kind: ast.ClassDef, depth: int = 3) -> Iterator[LibraryType]:
        module = self.project.module_of_class(kind)
        names = [self.project.name(base, module) for base in kind.bases] if module is not None else []
        yield from (_BASES[name] for name in names if name in _BASES)
        for parent in self.project.bases(kind) if depth else ():
            yield from self._of_bases(parent, depth - 1)

    def _uses(self, function: Function, libraries: tuple[str, ...]) -> bool:
        return any(name.startswith(libraries) for name in self.project.bound(function.file).values())


def _keeps_to_itself(call: ast.Call) -> bool:
    """Whether a metric is made with sync_on_compute=False, so that compute() asks no other rank."""
    return any(
        one.arg == "sync_on_compute" and isinstance(one.value, ast.Constant) and not one.value.value
        for one in call.keywords
    )


class ModelBuffers:
    """Whether the models of a project have buffers, which DistributedDataParallel broadcasts in its forward."""

    def __init__(self, project: Project) -> None:
        self._project = project

    @cached_property
    def are_there(self) -> bool:
        """Whether the project makes buffers itself, or takes a model of torchvision that has them."""
        if any(file.words & _MAKE_BUFFERS for file in self._project.python):
            return True
        return any(_BUFFERED.match(name) for name in self._project.calls_by_canonical)


def _takes_out(value: ast.IfExp) -> bool:
    """Whether a model is taken out of its wrapper where it is in one: `m.module if isinstance(m, DDP) else m`."""
    arms = {ast.unparse(value.body), ast.unparse(value.orelse)}
    asked = ast.unparse(value.test.args[0]) if isinstance(value.test, ast.Call) and value.test.args else ""
    return bool(asked) and arms == {asked, f"{asked}.module"}


def is_kept_local(call: ast.Call, function: Function, project: Project) -> bool:
    """Whether a call stands in a block of DDP's `with model.no_sync():`, entered in each round: nothing is reduced."""
    file = project.file_with(function)
    if "no_sync" not in file.words or any(one.words & _SHARDS for one in project.python):
        return False
    outer = file.parents.get(call)
    while outer is not None and outer is not function.syntax:
        if isinstance(outer, (ast.With, ast.AsyncWith)):
            entered = (one.context_expr for one in outer.items)
            if any(isinstance(one, ast.Call) and last_name(one.func) == "no_sync" for one in entered):
                return True
        outer = file.parents.get(outer)
    return False
