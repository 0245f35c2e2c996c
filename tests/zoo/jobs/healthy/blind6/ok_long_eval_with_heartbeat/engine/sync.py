import contextlib
import threading

import torch
import torch.distributed as dist

CONTINUE, DONE = 1, 0


@contextlib.contextmanager
def others_wait(period=3.0):
    """On rank 0, tells the other ranks now and then that the work of the block goes on."""
    group = dist.group.WORLD
    finished = threading.Event()

    def beat():
        while not finished.wait(period):
            dist.broadcast(torch.tensor(CONTINUE), src=0, group=group)
        dist.broadcast(torch.tensor(DONE), src=0, group=group)

    thread = threading.Thread(target=beat, name="heartbeat")
    thread.start()
    try:
        yield
    finally:
        finished.set()
        thread.join()


def wait_for_main():
    flag = torch.tensor(CONTINUE)
    while flag.item() == CONTINUE:
        dist.broadcast(flag, src=0)
