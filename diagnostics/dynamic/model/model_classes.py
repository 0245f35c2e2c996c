"""The classes of a model and the functions that train it, in the job's own source files. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from diagnostics.core.frames import shown_path
from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.dynamic.job.job_sources import job_sources
from diagnostics.static.program.ast_walk import children, walk

MAX_FILES = 60
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceSite:
    """A syntax node of one file."""

    file: str
    node: ast.AST

    def location(self, job: Job) -> str:
        """Returns "model.py:31"."""
        return f"{shown_path(self.file, job.facts.cwd)}:{getattr(self.node, 'lineno', 1)}"


def source_files_of(job: Job, process: JobProcess) -> tuple[str, ...]:
    """Returns the job's own Python files that the process was seen in."""
    return tuple(name for name, _ in job_sources(job, process))[:MAX_FILES]


def functions(job: Job, file: str) -> Iterator[Function]:
    """Yields every function of a file."""
    tree = job.sources.file(file).tree
    yield from (node for node in walk(tree) if isinstance(node, Function)) if tree is not None else ()


def class_of(job: Job, files: tuple[str, ...], name: str) -> tuple[str, ast.ClassDef] | None:
    """Returns (file, class) by its qualified name, None where none of the files has it."""
    last = name.rpartition(".")[2]
    for file in files:
        tree = job.sources.file(file).tree
        for node in walk(tree) if tree is not None else ():
            if isinstance(node, ast.ClassDef) and node.name == last:
                return file, node
    return None


def method(kind: ast.ClassDef, name: str) -> Function | None:
    """Returns a method of a class, None where it has none of its own."""
    return next((node for node in kind.body if isinstance(node, Function) and node.name == name), None)


def entered_classes(process: JobProcess) -> tuple[str, ...]:
    """Returns the classes of the modules the process was seen to call, each once."""
    entered = process.agent.entered if process.agent is not None else ()
    return tuple(dict.fromkeys(entry.module.class_name for entry in entered))


def parents(tree: ast.AST) -> dict[ast.AST, ast.AST]:
    """Returns the parent of each node below `tree`."""
    return {child: node for node in walk(tree) for child in children(node)}


def called_name(call: ast.Call) -> str:
    """Returns the last part of what is called: `relu` of `F.relu(x)`."""
    function = call.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
