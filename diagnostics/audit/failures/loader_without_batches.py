"""A DataLoader that can never give a batch.

What it does: flags DataLoaders with drop_last=True whose data set has, by the numbers in the source, fewer samples than
a batch needs.

Why it matters: the only batch is not full and is dropped. The loop over the loader does nothing, no loss is computed,
and the training ends at once with success.

Bad:

    data = TensorDataset(torch.randn(20, 3))
    loader = DataLoader(data, batch_size=32, drop_last=True)

Good:

    loader = DataLoader(data, batch_size=4, drop_last=True)

What it cannot see: data sets whose size is not in the source.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Severity
from diagnostics.static.dataflow.rank_guards import reaching_values
from diagnostics.static.program.functions import Function
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.torch_code.data_loaders import constant, is_none, loaders_in

CODE = "A509"
NAME = "loader-without-batches"
SEVERITY = Severity.ERROR
WORDS = ("drop_last",)
_TENSORS = {"torch.randn", "torch.rand", "torch.zeros", "torch.ones", "torch.empty", "torch.arange"}
_DEPTH = 4


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the loaders whose only batch is dropped."""
    for loader in loaders_in(file, project):
        dropped = constant(loader.arguments.get("drop_last"), loader.function, project)
        size = constant(loader.arguments.get("batch_size"), loader.function, project)
        dataset = loader.arguments.get("dataset")
        if dropped is not True or not isinstance(size, int) or dataset is None:
            continue
        if not is_none(loader.arguments.get("batch_sampler")):
            continue
        length = _length(dataset, loader.function, project, _DEPTH)
        if length is not None and length < size:
            yield violation(
                file,
                loader.call,
                f"the data set has {length} samples, a batch needs {size}, and drop_last drops what is not full: the "
                "loader is empty and nothing is trained",
                f"batch_size of at most {length}, or drop_last=False",
                steps=(step(file, dataset, f"{length} samples"), step(file, loader.call, f"batches of {size}")),
            )


def _length(value: ast.expr, function: Function, project: Project, depth: int) -> int | None:
    """Returns how many items a value has, by the source alone; None where that is not known."""
    if depth < 0:
        return None
    if isinstance(value, (ast.List, ast.Tuple)):
        return None if any(isinstance(one, ast.Starred) for one in value.elts) else len(value.elts)
    if isinstance(value, ast.Name):
        values = list(reaching_values(value, function, project))
        whole = (
            len(values) == 1 and not isinstance(function.syntax, ast.Lambda) and not _is_changed(value.id, values[0][1])
        )
        return _length(values[0][0], values[0][1], project, depth - 1) if whole else None
    if not isinstance(value, ast.Call):
        return None
    name = project.name(value.func, function)
    if name == "torch.utils.data.TensorDataset" and value.args:
        return _length(value.args[0], function, project, depth - 1)
    if name == "torch.utils.data.Subset" and len(value.args) > 1:
        return _length(value.args[1], function, project, depth - 1)
    if name in (*_TENSORS, "range") and value.args and (len(value.args) == 1 or name not in ("range", "torch.arange")):
        first = value.args[0].elts[0] if isinstance(value.args[0], ast.Tuple) and value.args[0].elts else value.args[0]
        count = constant(first, function, project)
        return count if isinstance(count, int) else None
    return None


def _is_changed(name: str, function: Function) -> bool:
    """Whether a list may have grown or shrunk since it was made."""
    for node in function.own_nodes:
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name) and node.target.id == name:
            return True
        called = node.func if isinstance(node, ast.Call) else None
        if isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name) and called.value.id == name:
            return True
    return False
