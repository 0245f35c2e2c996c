"""Tasks that go wrong on purpose, on one rank."""

import ctypes
import os
import time


def run(rank, world_size, arguments):
    if rank == arguments.get("on_rank", 1):
        FAULTS[arguments["fault"]]()
    if arguments.get("others_wait"):
        time.sleep(600)
    return {"rank": rank, "world_size": world_size, "port": os.environ["MASTER_PORT"]}


def segfault():
    ctypes.string_at(0)


def hang():
    time.sleep(600)


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
    "leave_a_child": leave_a_child,
    "raise": raise_an_error,
    "flood": flood,
    "nothing": nothing,
}
