"""Ranks without a launcher: `python train.py` with this folder on PYTHONPATH and UPS_TEST_RANKS="2 train.py" becomes 2.

While Python starts, after an agent that does so too, torch is imported once and N ranks are forked. Each goes on as the
interpreter that it is, with train.py as its program. The first process does what a launcher does: it waits, ends the
others soon after one has failed, and leaves with 1 then. For tests in which no launcher is asked about.
"""

import gc
import os
import signal
import socket
import sys
import weakref
from collections.abc import Iterable
from contextlib import suppress
from typing import NoReturn

RANKS = "UPS_TEST_RANKS"


def launch(count: int) -> None:
    """Returns in each rank."""
    gc.disable()  # of what an import makes nothing is garbage, and to look for some takes a fifth of its time
    import torch._dynamo  # noqa: F401 - which torch puts off until the first optimizer

    gc.freeze()  # the memory that all ranks share stays shared
    for one in weakref.finalize._registry:  # type: ignore[attr-defined] # torch's, which take its operators out again
        one.atexit = False  # to write to that memory is most of what the end of a rank takes
    gc.enable()
    os.environ.update(WORLD_SIZE=str(count), LOCAL_WORLD_SIZE=str(count), MASTER_ADDR="127.0.0.1", OMP_NUM_THREADS="1")
    os.environ["MASTER_PORT"] = str(free_port())
    pids = []
    for rank in range(count):
        os.environ.update(RANK=str(rank), LOCAL_RANK=str(rank))
        pid = os.fork()
        if not pid:
            return
        pids.append(pid)
    for name in ("RANK", "LOCAL_RANK"):
        del os.environ[name]
    follow(pids)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def follow(pids: list[int]) -> NoReturn:
    """Waits for all ranks as torchrun does, and leaves."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: end(pids))
    failed, living = False, set(pids)
    while living:
        pid, status = os.wait()
        living.discard(pid)
        if status and not failed:
            failed = True
            end(living)
    os._exit(int(failed))


def end(pids: Iterable[int]) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)


count, _, program = os.environ.get(RANKS, "").partition(" ")
if count and sys.orig_argv[1:2] == [program]:  # who starts it, as the doctor, may be a Python too
    del os.environ[RANKS]
    launch(int(count))
