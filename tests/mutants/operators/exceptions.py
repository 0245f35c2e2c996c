"""Exceptions: raised by a check, by a wrong value, by a wrong shape, in a helper's way, and swallowed."""

from __future__ import annotations

from operators import IN_RANK, LOOPS, Operator, Scene, crash, parting

PYTHON = crash("python-exception")


def _check(scene: Scene) -> list[str]:
    return scene.guarded('raise ValueError("batch has no targets")')


def _value(scene: Scene) -> list[str]:
    return scene.guarded('scale = float("n/a")')


def _key(scene: Scene) -> list[str]:
    return scene.guarded('weights = {"cat": 1.0}', 'weight = weights["dog"]')


def _none(scene: Scene) -> list[str]:
    return scene.guarded("found = None", "count = found.numel()")


def _shape(scene: Scene) -> list[str]:
    return scene.guarded("mixed = torch.zeros(4, 3) @ torch.zeros(4, 3)")


def _assert(scene: Scene) -> list[str]:
    return scene.for_all(f"assert {scene.rank_text} != {scene.rank}")


def _file(scene: Scene) -> list[str]:
    return scene.guarded('table = open("statistics/mean.csv").read()')


def _terminal(scene: Scene) -> list[str]:
    return scene.guarded('answer = input("continue? ")')


def _swallowed(scene: Scene) -> list[str]:
    return scene.guarded("try:", '    scale = float("n/a")', "except ValueError:", "    continue")


OPERATORS = (
    Operator(name="raise", kinds=IN_RANK, classes=PYTHON, body=_check),
    Operator(name="wrong-value", kinds=IN_RANK, classes=PYTHON, body=_value),
    Operator(name="missing-key", kinds=IN_RANK, classes=PYTHON, body=_key),
    Operator(name="none-attribute", kinds=IN_RANK, classes=PYTHON, body=_none),
    Operator(name="wrong-shape", kinds=IN_RANK, classes=PYTHON, body=_shape, imports=("import torch",)),
    Operator(name="assert", kinds=IN_RANK, classes=PYTHON, body=_assert),
    Operator(name="stdin", kinds=IN_RANK, classes=PYTHON, body=_terminal),  # nobody types: EOFError
    Operator(name="missing-file", kinds=IN_RANK, classes=PYTHON, body=_file),
    Operator(
        name="swallowed-raise",
        kinds=LOOPS,
        classes=parting("collective-missing", "collective-mismatch"),
        body=_swallowed,
    ),
)
