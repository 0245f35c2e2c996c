"""A signal ends a rank: one that it sends to itself, or one that native code earns."""

from __future__ import annotations

import signal

from operators import IN_RANK, Operator, Scene, crash

KILLED = crash("killed-externally")
NATIVE = crash("native-crash")


def _kill(name: str, number: int) -> Operator:
    def body(scene: Scene) -> list[str]:
        return scene.guarded(f"os.kill(os.getpid(), signal.{name})")

    return Operator(
        name=name, kinds=IN_RANK, classes=KILLED, body=body, imports=("import os", "import signal"), signal=number
    )


def _null_read(scene: Scene) -> list[str]:
    return scene.guarded("ctypes.string_at(0)")


def _null_write(scene: Scene) -> list[str]:
    return scene.guarded("ctypes.memset(8, 0, 64)")


def _abort(scene: Scene) -> list[str]:
    return scene.guarded("os.abort()")


OPERATORS = (
    _kill("SIGKILL", signal.SIGKILL),
    _kill("SIGTERM", signal.SIGTERM),
    Operator(
        name="null-read",
        kinds=IN_RANK,
        classes=NATIVE,
        body=_null_read,
        imports=("import ctypes",),
        signal=signal.SIGSEGV,
    ),
    Operator(
        name="null-write",
        kinds=IN_RANK,
        classes=NATIVE,
        body=_null_write,
        imports=("import ctypes",),
        signal=signal.SIGSEGV,
    ),
    Operator(
        name="abort",
        kinds=IN_RANK,
        classes=crash("native-crash", "python-exception"),
        body=_abort,
        imports=("import os",),
        signal=signal.SIGABRT,
    ),
)
