"""What the source says about a DataLoader: its data set, its sampler, who reads it. Pure."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from diagnostics.static.dataflow.rank_guards import is_rank_dependent, reaching_values
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function
from diagnostics.static.program.import_closure import ImportClosures
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.torch_code.training_functions import MANAGED

LOADER = "torch.utils.data.DataLoader"
SAMPLER = "torch.utils.data.distributed.DistributedSampler"
ITERABLE = "torch.utils.data.IterableDataset"
_POSITIONS = ("dataset", "batch_size", "shuffle", "sampler", "batch_sampler", "num_workers", "collate_fn", "pin_memory",
              "drop_last")  # fmt: skip
EVALUATION = re.compile(r"val|test|eval|dev_|infer|predict|bench|query|gallery|calib|sample_loader", re.IGNORECASE)
_RANDOM = {"randn", "rand", "randint", "randn_like", "rand_like", "randperm", "uniform", "normal", "make_blobs",
           "linspace", "random", "FakeData", "arange"}  # fmt: skip
_OTHERS = (
    "ignite",
    "horovod",
    "ray",
    "deepspeed",
    "mosaicml",
    "composer",
    "colossalai",
    "webdataset",
    "torchdata",
    "nvidia",
)


@dataclass(frozen=True, slots=True)
class DataLoaderSite:
    """One call of DataLoader."""

    call: ast.Call
    function: Function
    arguments: dict[str, ast.expr]
    open_ended: bool  # it is given *args or **kwargs

    @property
    def name(self) -> str:
        """The names it is assigned to, or that of the function that makes it."""
        names = [
            name
            for name, values in self.function.assigned.items()
            if any(one is self.call or self.call in walk(one) for one in values)
        ]
        return names[0] if names else ""

    @property
    def for_evaluation(self) -> bool:
        """Whether what it is called speaks of evaluation."""
        dataset = ast.unparse(self.arguments["dataset"]) if "dataset" in self.arguments else ""
        return bool(EVALUATION.search(f"{self.name} {dataset} {self.function.name}"))


def loaders_in(file: ProjectFile, project: Project) -> Iterator[DataLoaderSite]:
    """Yields the calls of torch's DataLoader in a file."""
    for call, function in project.calls_in(file):
        if project.name(call.func, function) == LOADER:
            yield _loader(call, function)


def _loader(call: ast.Call, function: Function) -> DataLoaderSite:
    found = dict(zip(_POSITIONS, call.args, strict=False))
    found.update({one.arg: one.value for one in call.keywords if one.arg})
    starred = any(isinstance(one, ast.Starred) for one in call.args) or any(one.arg is None for one in call.keywords)
    return DataLoaderSite(call, function, found, starred)


def is_none(value: ast.expr | None) -> bool:
    """Whether an argument is left out or None."""
    return value is None or (isinstance(value, ast.Constant) and value.value is None)


def constant(value: ast.expr | None, function: Function, project: Project) -> object:
    """Returns the literal that a value is, also through one name; None where it is none."""
    if isinstance(value, ast.Constant):
        return value.value
    if isinstance(value, ast.Name):
        known = list(reaching_values(value, function, project))
        if not known and function.name != "<module>":
            module = project.module_of(function.source)
            known = [(one, module) for one in module.assigned.get(value.id, ())]
        if len(known) == 1 and isinstance(known[0][0], ast.Constant):
            return known[0][0].value
    return None


def managed(file: ProjectFile, project: Project) -> bool:
    """Whether a trainer library deals out the data in the programs that a file takes part in."""
    if any(True for _ in project.fact(ImportClosures).calls(file.shown, *MANAGED)):
        return True
    return any(
        home.partition(".")[0] in _OTHERS
        for one in project.fact(ImportClosures).around(file.shown)
        for home in project.bound(one).values()
    )


def sharded(value: ast.expr | None, function: Function, project: Project) -> bool:
    """Whether a data set or sampler knows its rank: by its arguments, or by what its class does."""
    if value is None:
        return False
    if is_rank_dependent(value, function, project):
        return True
    for kind in project.kinds(value, function):
        for node in kind.body:
            method = project.by_syntax.get(id(node))
            if method is not None and any(_names_rank(one) for one in method.own_nodes):
                return True
    return False


def _names_rank(node: ast.AST) -> bool:
    name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
    return bool(re.search(r"rank|world_size|num_replicas|num_shards|shard|split_by_node|process_index", name))


def made_by_chance(value: ast.expr | None, function: Function, project: Project) -> bool:
    """Whether a data set is made of random numbers: then ranks have other data without a sampler."""
    waiting = [(value, function)] if value is not None else []
    for _ in range(20):
        if not waiting:
            return False
        one, where = waiting.pop()
        if any(_is_random(node) for node in walk(one)):
            return True
        for node in walk(one):
            if isinstance(node, ast.Name):
                waiting += list(reaching_values(node, where, project))
            elif isinstance(node, ast.Call):
                for target in project.targets(node, where):
                    if any(_is_random(inner) for inner in target.own_nodes):
                        return True
                    waiting += [(inner.value, target) for inner in target.own_nodes if _is_return(inner)]  # type: ignore[attr-defined]
        for kind in project.kinds(one, where):
            if any(_is_random(node) for node in walk(kind)):
                return True
    return True


def _is_return(node: ast.AST) -> bool:
    return isinstance(node, ast.Return) and node.value is not None


def _is_random(node: ast.AST) -> bool:
    name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    return name in _RANDOM or "synth" in name.lower() or "dummy" in name.lower() or "fake" in name.lower()


def read_by(value: ast.AST, names: frozenset[str]) -> bool:
    """Whether an expression reads one of these names: loader, enumerate(loader), tqdm(loader)."""
    return any(isinstance(one, ast.Name) and one.id in names for one in walk(value))
