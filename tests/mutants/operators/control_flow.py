"""One rank takes another way through the loop than its peers."""

from __future__ import annotations

from operators import LOOPS, Operator, parting

PARTED = parting("collective-missing", "collective-mismatch")

OPERATORS = (
    Operator(name="continue", kinds=LOOPS, classes=PARTED, body=lambda scene: scene.guarded("continue")),
    Operator(name="break", kinds=LOOPS, classes=PARTED, body=lambda scene: scene.guarded("break")),
    Operator(name="return", kinds=LOOPS, classes=PARTED, body=lambda scene: scene.guarded("return"), leaves=True),
    Operator(
        name="shorter-loader",
        kinds=LOOPS,
        classes=PARTED,
        iterable=lambda scene: f"itertools.islice({{0}}, {scene.step} if {scene.mine} else None)",
        imports=("import itertools",),
    ),
    Operator(
        name="longer-loader",
        kinds=LOOPS,
        classes=PARTED,
        iterable=lambda scene: f"itertools.chain({{0}}, itertools.islice({{0}}, 1)) if {scene.mine} else {{0}}",
        imports=("import itertools",),
    ),
)
