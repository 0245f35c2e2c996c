"""One rank waits for what does not come, or works without an end."""

from __future__ import annotations

from operators import IN_RANK, Operator, hang

STALLED = hang("rank-stalled")


def _stands(name: str, *statements: str, imports: tuple[str, ...] = ()) -> Operator:
    return Operator(
        name=name, kinds=IN_RANK, classes=STALLED, body=lambda scene: scene.guarded(*statements), imports=imports
    )


OPERATORS = (
    _stands("sleep", "time.sleep(36000)", imports=("import time",)),
    _stands("endless-loop", "tries = 0", "while tries >= 0:", "    tries += 1"),
    _stands(
        "polling-loop",
        'while not os.path.exists("ready"):',
        "    time.sleep(0.1)",
        imports=("import os", "import time"),
    ),
    _stands("lock", "lock = threading.Lock()", "lock.acquire()", "lock.acquire()", imports=("import threading",)),
    _stands("event", "threading.Event().wait()", imports=("import threading",)),
    _stands("queue.get", "item = queue.Queue().get()", imports=("import queue",)),
    _stands("fifo", 'os.mkfifo("commands")', 'line = open("commands").readline()', imports=("import os",)),
    _stands("pipe", "reader, writer = os.pipe()", "os.read(reader, 1)", imports=("import os",)),
    _stands("child", 'subprocess.run(["sleep", "36000"])', imports=("import subprocess",)),
    _stands("socket", 'server = socket.create_server(("127.0.0.1", 0))', "server.accept()", imports=("import socket",)),
)
