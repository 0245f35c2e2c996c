"""Faults where an item of the data set is read, in a worker process."""

from __future__ import annotations

from operators import Operator, Scene, crash, hang

ITEM = ("item",)


def _in_worker(
    *statements: str, imports: tuple[str, ...] = (), name: str, classes: dict[str, frozenset[str]]
) -> Operator:
    def body(scene: Scene) -> list[str]:
        return scene.guarded(*statements)

    return Operator(name=name, kinds=ITEM, classes=classes, body=body, imports=imports)


OPERATORS = (
    _in_worker('raise ValueError("truncated sample")', name="item-raises", classes=crash("python-exception")),
    _in_worker("os._exit(1)", imports=("import os",), name="item-exits", classes=crash("data-worker-crash")),
    _in_worker(
        "os.kill(os.getpid(), signal.SIGKILL)",
        imports=("import os", "import signal"),
        name="item-is-killed",
        classes=crash("data-worker-crash"),
    ),
    _in_worker(
        "ctypes.string_at(0)",
        imports=("import ctypes",),
        name="item-null-read",
        classes=crash("data-worker-crash", "native-crash"),
    ),
    _in_worker("time.sleep(36000)", imports=("import time",), name="item-sleeps", classes=hang("rank-stalled")),
    _in_worker(
        "lock = threading.Lock()",
        "lock.acquire()",
        "lock.acquire()",
        imports=("import threading",),
        name="item-locks",
        classes=hang("rank-stalled"),
    ),
)
