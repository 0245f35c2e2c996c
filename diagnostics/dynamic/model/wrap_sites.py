"""Where a model is wrapped for distributed training and where the wrapped model is called. Pure."""

from __future__ import annotations

import ast

from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.dynamic.model.model_classes import SourceSite, called_name, functions, source_files_of
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.torch_code import model_wrappers

# By name alone: nothing of a job says which names its files import. Methods of accelerate, Fabric and FSDP's policies.
WRAPPERS = {*model_wrappers.WORDS, "prepare", "setup", "wrap"}


def wrap_sites(job: Job, process: JobProcess) -> tuple[SourceSite, ...]:
    """Returns the calls that wrap a model."""
    return tuple(
        SourceSite(file=file, node=node)
        for file in source_files_of(job, process)
        for node in _nodes(job, file)
        if isinstance(node, ast.Call) and called_name(node) in WRAPPERS
    )


def static_wraps(job: Job, process: JobProcess) -> tuple[SourceSite, ...]:
    """Returns the calls that wrap a model with static_graph=True."""
    return tuple(place for place in wrap_sites(job, process) if _is_static(place.node))


def _is_static(node: ast.AST) -> bool:
    words = {word.arg: word.value for word in node.keywords} if isinstance(node, ast.Call) else {}
    value = words.get("static_graph")
    return isinstance(value, ast.Constant) and value.value is True


def forward_calls(job: Job, process: JobProcess) -> tuple[str, ...]:
    """Returns the lines that call the wrapped model, one for each call, in the function that calls it most often.

    Where none calls it twice, those of the file that does.
    """
    names: set[str] = set()
    for file in source_files_of(job, process):
        for node in _nodes(job, file):
            if isinstance(node, ast.Assign) and _wraps(node.value):
                names |= {ast.unparse(target).rpartition(".")[2] for target in node.targets}
    names |= {"model", "net", "ddp", "ddp_model"}
    by_file: list[list[SourceSite]] = []
    by_function: list[list[SourceSite]] = []
    for file in source_files_of(job, process):
        calls = [
            node
            for node in _nodes(job, file)
            if isinstance(node, ast.Call) and called_name(node) in names and not _wraps(node)
        ]
        by_file.append([SourceSite(file=file, node=node) for node in calls])
        for function in functions(job, file):
            lines = range(function.lineno, (function.end_lineno or function.lineno) + 1)
            by_function.append([SourceSite(file=file, node=node) for node in calls if node.lineno in lines])
    most = max(by_function, key=len, default=[])
    found = most if len(most) > 1 else max(by_file, key=len, default=[])
    return tuple(place.location(job) for place in found)


def _wraps(value: ast.expr) -> bool:
    return isinstance(value, ast.Call) and called_name(value) in WRAPPERS


def _nodes(job: Job, file: str) -> list[ast.AST]:
    tree = job.sources.file(file).tree
    return list(walk(tree)) if tree is not None else []
