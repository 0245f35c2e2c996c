"""A rank that leaves by itself, with a code that says so or not."""

from __future__ import annotations

from operators import IN_RANK, Operator, crash, parting

ENDED_WELL = parting("collective-missing")


OPERATORS = (
    Operator(
        name="sys.exit(0)",
        kinds=IN_RANK,
        classes=ENDED_WELL,
        body=lambda scene: scene.guarded("sys.exit(0)"),
        imports=("import sys",),
    ),
    Operator(
        name="sys.exit(3)",
        kinds=IN_RANK,
        classes=crash("python-exception"),
        body=lambda scene: scene.guarded("sys.exit(3)"),
        imports=("import sys",),
    ),
    Operator(
        name="os._exit(0)",
        kinds=IN_RANK,
        classes=ENDED_WELL,
        body=lambda scene: scene.guarded("os._exit(0)"),
        imports=("import os",),
    ),
    Operator(
        name="os._exit(1)",
        kinds=IN_RANK,
        classes=crash("python-exception"),
        body=lambda scene: scene.guarded("os._exit(1)"),
        imports=("import os",),
    ),
)
