"""A LightningDataModule keeps something on itself in prepare_data(), which runs in one process.

What it does: flags attributes that `prepare_data`, or a method that it calls, sets on self, that nothing else sets, and
that another method reads.

Why it matters: Lightning calls prepare_data in one process of a machine, so that a download is made once. The other
ranks do not have the attribute: setup() raises AttributeError there, while rank 0 waits for them; or they go on with
the placeholder of `__init__`.

Bad:

    def prepare_data(self):
        download(self.root)
        self.mean = read(self.root).mean()

Good:

    def prepare_data(self):
        download(self.root)
    def setup(self, stage):
        self.mean = read(self.root).mean()

What it cannot see: attributes that are set by setattr, and readers outside of the class.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.torch_code.module_classes import ModuleClass, class_tree, is_none, methods, own_attribute

CODE = "A119"
NAME = "state-set-in-prepare-data"
SEVERITY = Severity.ERROR
WORDS = ("prepare_data",)
CHECKLIST = "prepare_data keeps nothing on the data module"
_PREPARES = "prepare_data"
_EARLY = frozenset(["__init__", "__post_init__"])  # they run before it, on every rank
_KINDS = ("LightningDataModule", "LightningModule")


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the attributes that one process alone has."""
    tree = class_tree(project)
    for known in tree.by_syntax.values():
        prepare = next((one for one in methods(known.syntax) if one.name == _PREPARES), None)
        if known.file is not file or prepare is None or file.is_test:
            continue
        if not any(root.rpartition(".")[2] in _KINDS for root in tree.roots(known)):
            continue
        yield from _alone(file, known, prepare, [known, *tree.bases(known)])


def _alone(
    file: ProjectFile, known: ModuleClass, prepare: ast.FunctionDef, lineage: list[ModuleClass]
) -> Iterator[Violation]:
    called = {_PREPARES, *_own_calls(prepare)}
    others = [one for kind in lineage for one in methods(kind.syntax) if one.name not in called]
    called -= {name for one in others for name in _own_calls(one)}  # what runs elsewhere, too, is set there
    told: set[str] = set()
    for method in (one for one in methods(known.syntax) if one.name in called):
        for attribute, node, value in _set_in(method):
            if attribute in told or _is_set_elsewhere(attribute, lineage, called):
                continue
            if any(own_attribute(one) == attribute for one in walk(value)):
                continue  # `self.root = Path(self.root)`: the others have it in its first form
            readers = ((kind, one) for kind in lineage for one in methods(kind.syntax)
                       if one.name not in called and one.name not in _EARLY)  # fmt: skip
            read = next(((kind, node) for kind, one in readers for node in walk(one)
                         if own_attribute(node) == attribute and _is_read(node)), None)  # fmt: skip
            if read is not None:
                told.add(attribute)
                yield violation(
                    file,
                    node,
                    f"prepare_data runs in one process, and self.{attribute} is set there alone: the other ranks do "
                    "not have it",
                    f"set self.{attribute} in setup(), which every rank runs; prepare_data only writes files",
                    steps=(step(read[0].file, read[1], "every rank reads it here"),),
                    confidence=Confidence.LIKELY,
                )


def _own_calls(method: ast.FunctionDef) -> Iterator[str]:
    for node in walk(method):
        if isinstance(node, ast.Call) and own_attribute(node.func):
            yield own_attribute(node.func)


def _set_in(method: ast.FunctionDef) -> Iterator[tuple[str, ast.stmt, ast.expr]]:
    """Yields (attribute, where, value) for each attribute of self that a method sets."""
    for node in walk(method):
        if not isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)) or node.value is None:
            continue
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            for one in target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]:
                if attribute := own_attribute(one):
                    yield attribute, node, node.value


def _is_set_elsewhere(attribute: str, lineage: list[ModuleClass], called: set[str]) -> bool:
    """Whether every rank is given an attribute: by another method, or with more than a placeholder in __init__."""
    for kind in lineage:
        if any(_is_given(attribute, one) for one in kind.syntax.body):
            return True
        for method in methods(kind.syntax):
            if method.name in called:
                continue
            if method.name == attribute:
                return True  # a property
            for name, _, value in _set_in(method):
                if name == attribute and not (method.name == "__init__" and _is_placeholder(value)):
                    return True
    return False


def _is_given(attribute: str, node: ast.stmt) -> bool:
    """Whether the body of a class gives all objects an attribute: a value, or a field of a data class."""
    if isinstance(node, ast.AnnAssign):
        named = isinstance(node.target, ast.Name) and node.target.id == attribute
        return named and not (node.value is not None and "init=False" in ast.unparse(node.value))
    named = isinstance(node, ast.Assign) and any(
        isinstance(one, ast.Name) and one.id == attribute for one in node.targets
    )
    return named and isinstance(node, ast.Assign) and not is_none(node.value)


def _is_placeholder(value: ast.expr) -> bool:
    empty = isinstance(value, (ast.List, ast.Dict, ast.Tuple)) and not ast.unparse(value).strip("[]{}()")
    return is_none(value) or empty


def _is_read(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load)
