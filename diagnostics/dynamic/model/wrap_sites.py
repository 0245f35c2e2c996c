"""Where a model is wrapped for distributed training and where the wrapped model is called. Pure."""

from __future__ import annotations

import ast

from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.dynamic.model.model_classes import SourceSite, called_name, job_files
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.torch_code import model_wrappers

# By name alone: nothing of a job says which names its files import. Methods of accelerate, Fabric and FSDP's policies.
WRAPPERS = {*model_wrappers.WORDS, "prepare", "setup", "wrap"}


def wrap_calls(case: Job, story: JobProcess) -> tuple[SourceSite, ...]:
    """Returns the calls that wrap a model."""
    return tuple(
        SourceSite(file=file, node=node)
        for file in job_files(case, story)
        for node in _nodes(case, file)
        if isinstance(node, ast.Call) and called_name(node) in WRAPPERS
    )


def static_wraps(case: Job, story: JobProcess) -> tuple[SourceSite, ...]:
    """Returns the calls that wrap a model with static_graph=True."""
    return tuple(place for place in wrap_calls(case, story) if _is_static(place.node))


def _is_static(node: ast.AST) -> bool:
    words = {word.arg: word.value for word in node.keywords} if isinstance(node, ast.Call) else {}
    value = words.get("static_graph")
    return isinstance(value, ast.Constant) and value.value is True


def forward_calls(case: Job, story: JobProcess) -> tuple[str, ...]:
    """Returns the lines that call the wrapped model, in the function where most of them stand."""
    names: set[str] = set()
    for file in job_files(case, story):
        for node in _nodes(case, file):
            if isinstance(node, ast.Assign) and _wraps(node.value):
                names |= {ast.unparse(target).rpartition(".")[2] for target in node.targets}
    names |= {"model", "net", "ddp", "ddp_model"}
    found: list[SourceSite] = []
    for file in job_files(case, story):
        calls = [
            SourceSite(file=file, node=node)
            for node in _nodes(case, file)
            if isinstance(node, ast.Call) and called_name(node) in names and not _wraps(node)
        ]
        found = max(found, calls, key=len)
    return tuple(dict.fromkeys(place.location(case) for place in found))


def _wraps(value: ast.expr) -> bool:
    return isinstance(value, ast.Call) and called_name(value) in WRAPPERS


def _nodes(case: Job, file: str) -> list[ast.AST]:
    tree = case.sources.file(file).tree
    return list(walk(tree)) if tree is not None else []
