"""An error of a backward pass that names a function of the project's own is told at what that one returns."""

from __future__ import annotations

from pathlib import Path

import pytest
from hand_made import a_job, a_process, raised

from diagnostics.diagnosis.crash import uncaught_exception

OPS = """\
class Gate(torch.autograd.Function):
    @staticmethod
    def backward(ctx, grad):
        if ctx.small:
            return None, None
        return grad.sum(), None
"""


@pytest.mark.parametrize(
    ("named", "lines"),
    [
        ("GateBackward returned an invalid gradient at index 0", ("ops.py:6", "train.py:9")),
        ("'GateBackward' returned nan values in its 0th output.", ("ops.py:6", "train.py:9")),
        ("MulBackward0 returned an invalid gradient at index 0", ("train.py:9",)),  # torch's own
        ("OtherBackward returned an invalid gradient at index 0", ("train.py:9",)),
    ],
)
def test_the_backward_that_an_error_names_is_the_first_line(tmp_path: Path, named: str, lines: tuple[str, ...]) -> None:
    error = raised(f"RuntimeError: Function {named}", f"{tmp_path}/train.py:9")
    files = {"ops.py": OPS, "train.py": "import ops\n" + "x = 1\n" * 7 + "loss.backward()\n"}
    match = uncaught_exception.match(a_job(a_process(code=1, raised=(error,)), cwd=tmp_path, files=files))
    assert match is not None
    assert match.locations == lines
