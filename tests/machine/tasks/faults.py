"""Tasks that go wrong on purpose, on one rank."""

import ctypes
import os
import sys
import time


def run(rank, world_size, arguments):
    if rank == arguments.get("on_rank", 1):
        FAULTS[arguments["fault"]]()
    if arguments.get("others_wait"):
        time.sleep(600)
    return {"rank": rank, "world_size": world_size, "port": os.environ["MASTER_PORT"], **also(arguments)}


def also(arguments):
    module = arguments.get("module")
    if not module:
        return {}
    compiler = sys.modules.get("torch._inductor.config")
    threads = getattr(compiler, "compile_threads", None), os.environ.get("TORCHINDUCTOR_COMPILE_THREADS")
    return {"imported": module in sys.modules, "threads": threads}


def segfault():
    ctypes.string_at(0)


def hang():
    time.sleep(600)


def wake_now_and_then():
    until = time.monotonic() + 600
    while time.monotonic() < until:
        time.sleep(0.2)


def work():
    until = time.process_time() + 3
    while time.process_time() < until:
        sum(range(1000))


def leave_a_child():
    if os.fork() == 0:
        time.sleep(600)


def raise_an_error():
    raise ValueError("the value of rank 1")


def flood():
    os.write(1, b"a" * 100_000 + b"b" * 200_000)


def nothing():
    return None


FAULTS = {
    "segfault": segfault,
    "hang": hang,
    "wake_now_and_then": wake_now_and_then,
    "work": work,
    "leave_a_child": leave_a_child,
    "raise": raise_an_error,
    "flood": flood,
    "nothing": nothing,
}
