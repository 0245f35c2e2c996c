"""share_memory_() of a tensor or model on a GPU.

What it does: flags share_memory_() and share_memory() of what was moved to a GPU.

Why it matters: it does nothing there. GPU tensors cross processes by handles of CUDA, which hold only while the process
that made them keeps them alive, and not through fork at all; who relies on shared memory gets copies or an error.

Bad:

    flags = torch.zeros(8, device="cuda").share_memory_()

Good:

    flags = torch.zeros(8).share_memory_()

What it cannot see: devices that come from elsewhere.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.audit.rule import Violation, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.torch_code.devices import is_on_gpu

CODE = "A406"
NAME = "share-memory-on-device-tensor"
SEVERITY = Severity.WARNING
WORDS = ("share_memory_", "share_memory")


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the calls that share what lies on a GPU."""
    for call, function in project.calls_in(file):
        if not (isinstance(call.func, ast.Attribute) and call.func.attr in ("share_memory_", "share_memory")):
            continue
        if is_on_gpu(call.func.value, function, project) == "always":
            yield violation(
                file,
                call,
                f"{ast.unparse(call)[:70]} does nothing: {ast.unparse(call.func.value)[:50]} lies on a GPU",
                "share it before it is moved, or keep it on the CPU",
                confidence=Confidence.CONFIRMED,
            )
