"""A distributed model is trained with a loader that gives all ranks the same data.

What it does: flags DataLoaders that a DDP or FSDP model is trained with, in the function that makes them or in one that
it gives them back to, and that have neither a DistributedSampler, nor
a data set, sampler or seed that knows the rank. Also loaders of a training by Fabric or Accelerate that were not given
to it.

Why it matters: each rank goes through the whole data set. An epoch costs N times as much as it should, and N ranks
learn what one would: the job scales on paper only.

Bad:

    model = DistributedDataParallel(model)
    loader = DataLoader(dataset, batch_size=32, shuffle=True)

Good:

    loader = DataLoader(dataset, batch_size=32, sampler=DistributedSampler(dataset))

What it cannot see: files that are other ones on each machine.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.audit.executed import also, home, shown
from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.dataflow.rank_guards import is_rank_dependent, is_rank_guarded
from diagnostics.static.dataflow.value_uses import uses
from diagnostics.static.executed.plain_loaders import plain_under_library
from diagnostics.static.execution.events import Execution
from diagnostics.static.program.functions import Function
from diagnostics.static.program.import_closure import ImportClosures
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.torch_code.data_loaders import (
    EVALUATION,
    ITERABLE,
    LOADER,
    DataLoaderSite,
    is_none,
    loaders_in,
    made_by_chance,
    managed,
    read_by,
    sharded,
)
from diagnostics.static.torch_code.training_functions import WRAPPERS, TrainingFunctions

CODE = "A157"
NAME = "no-distributed-sampler"
SEVERITY = Severity.ERROR
RUN_CLASS, RUN_WHEN = "duplicate-data", "ranks"
WORDS = ("DataLoader",)
CHECKLIST = "training data is dealt out to the ranks"
_SEEDS = (
    "torch.manual_seed",
    "random.seed",
    "numpy.random.seed",
    "torch.cuda.manual_seed",
    "torch.cuda.manual_seed_all",
)
_OTHER_WAYS = {"init_device_mesh", "device_mesh", "pipeline_parallel", "tensor_parallel", "parallelize_module", "mpu",
               "RPC", "rpc", "init_rpc", "PipelineStage", "Join", "DistributedSampler"}  # fmt: skip


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the training loaders that every rank reads as a whole."""
    yield from also(_read(file, project), file, project, _run, uncalled=True)


def _run(execution: Execution, project: Project) -> Iterator[Violation]:
    for loader, backward, method in plain_under_library(execution):
        yield violation(
            home(loader, project),
            loader.node or backward.node,
            f"every rank trains on the whole of the same data: the loader was not given to {method}(), and has no "
            "sampler of its own",
            f"loader = {method}(loader), of the object that runs the model",
            steps=(shown(backward, project, "the model is trained with it"),),
            confidence=Confidence.LIKELY,
            severity=Severity.WARNING,
        )


def _read(file: ProjectFile, project: Project) -> Iterator[Violation]:
    for loader in loaders_in(file, project):
        if loader.open_ended or loader.for_evaluation or not _plain(loader):
            continue
        wrapped = next(project.fact(ImportClosures).calls(file.shown, *WRAPPERS), None)
        if wrapped is None or managed(file, project) or is_rank_guarded(loader.call, loader.function, project):
            continue
        dataset = loader.arguments.get("dataset")
        if sharded(dataset, loader.function, project) or _iterable(dataset, loader.function, project):
            continue
        read, reader = _training_loop(loader.name, loader.function, project), loader.function
        if read is None:
            read, reader = _handed_back(loader, wrapped[1], project)
        if read is None:
            read, reader = _read_elsewhere(loader, project)
        if read is None:
            continue
        yield violation(
            file,
            loader.call,
            "every rank trains on the whole of the same data: the loader has no DistributedSampler and its data set "
            "does not know the rank",
            "DataLoader(dataset, sampler=DistributedSampler(dataset), ...), and sampler.set_epoch(epoch) in each epoch",
            steps=(
                step(project.file_with(wrapped[1]), wrapped[0], "a model that averages gradients over the ranks"),
                step(file, loader.call, "a loader without a sampler"),
                step(project.file_with(reader), read, "the model is trained with it"),
            ),
            confidence=_confidence(file, project, loader, wrapped[1]),
        )


def _plain(loader: DataLoaderSite) -> bool:
    return all(is_none(loader.arguments.get(name)) for name in ("sampler", "batch_sampler"))


def _iterable(value: ast.expr | None, function: Function, project: Project) -> bool:
    """Whether a data set may be iterable: another rule speaks of those."""
    if value is None:
        return True
    return any(
        project.name(base, project.module_of(project.by_path[file])) == ITERABLE
        for kind in project.kinds(value, function)
        for file, one in project.classes.get(kind.name, ())
        if one is kind
        for base in kind.bases
    )


def _handed_back(loader: DataLoaderSite, wrapped_in: Function, project: Project) -> tuple[ast.AST | None, Function]:
    """Returns where the function that a loader is returned to, and that wraps the model, trains with it."""
    made = project.file_with(loader.function).parents.get(loader.call)
    if isinstance(made, ast.Return):
        for call, caller in project.callers(loader.function):
            names = [name for name, values in caller.assigned.items() if len(values) == 1 and values[0] is call]
            knows = is_rank_guarded(call, caller, project) or is_rank_dependent(call, caller, project)
            if caller is wrapped_in and names and not knows and not EVALUATION.search(names[0]):
                return _training_loop(names[0], caller, project), caller
    return None, loader.function


def _read_elsewhere(loader: DataLoaderSite, project: Project) -> tuple[ast.AST | None, Function]:
    """Returns the loop that trains with a loader wherever it has gone: kept in an attribute, given back, handed on."""
    for use, where in uses(loader.call, loader.function, project):
        around = project.file_with(where).parents.get(use)
        if not isinstance(around, (ast.For, ast.AsyncFor)) or around.iter is not use:
            continue
        knows = is_rank_guarded(around, where, project) or EVALUATION.search(where.name)
        if not knows and project.fact(TrainingFunctions).training_call(around.body, where) is not None:
            return around, where
    return None, loader.function


def _training_loop(name: str, function: Function, project: Project) -> ast.AST | None:
    """Returns the loop of a function in which the batches of a loader are trained on."""
    names = frozenset([name]) - {""}
    for node in function.own_nodes:
        if isinstance(node, (ast.For, ast.AsyncFor)) and names and read_by(node.iter, names):
            if project.fact(TrainingFunctions).training_call(node.body, function) is not None:
                return node
        elif isinstance(node, ast.Call) and names and _is_handed_over(node, names, function, project):
            return node
    return None


def _is_handed_over(call: ast.Call, names: frozenset[str], function: Function, project: Project) -> bool:
    """Whether a call trains with one of these loaders."""
    if not any(read_by(one, names) for one in call.args) or project.name(call.func, function) == LOADER:
        return False
    return project.fact(TrainingFunctions).is_training(call, function)


def _confidence(file: ProjectFile, project: Project, loader: DataLoaderSite, wrapped_in: Function) -> Confidence:
    words = project.fact(ImportClosures).words(file.shown)
    seeds = project.fact(ImportClosures).calls(file.shown, *_SEEDS)
    by_rank = any(is_rank_dependent(one, where, project) for call, where in seeds for one in call.args)
    dataset = loader.arguments.get("dataset")
    if by_rank or words & _OTHER_WAYS or made_by_chance(dataset, loader.function, project):
        return Confidence.POSSIBLE
    return Confidence.CONFIRMED if wrapped_in is loader.function else Confidence.LIKELY
