"""Threads: one dies while its rank waits for it, one holds a lock over a fork."""

from __future__ import annotations

from operators import IN_RANK, Operator, Scene, hang


def _feeder_dies(scene: Scene) -> list[str]:
    return scene.guarded(
        "items = queue.Queue()",
        "",
        "def fill():",
        '    items.put(float("n/a"))',
        "",
        "threading.Thread(target=fill).start()",
        "item = items.get()",
    )


def _fork(scene: Scene) -> list[str]:
    return scene.guarded(
        "lock = threading.Lock()",
        "lock.acquire()",
        'child = multiprocessing.get_context("fork").Process(target=lock.acquire)',
        "child.start()",
        "lock.release()",
        "child.join()",
    )


OPERATORS = (
    Operator(
        name="feeder-dies",
        kinds=IN_RANK,
        classes=hang("thread-exception"),
        body=_feeder_dies,
        imports=("import queue", "import threading"),
    ),
    Operator(
        name="fork-while-locked",
        kinds=IN_RANK,
        classes=hang("fork-deadlock", "rank-stalled"),
        body=_fork,
        imports=("import multiprocessing", "import threading"),
    ),
)
