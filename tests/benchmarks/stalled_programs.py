"""Small programs that train a few steps and then stand still, each in another way; texts by name.

HEAD trains; what follows it stalls. `TWO` start as two ranks under torchrun, the others as one process.
"""

from __future__ import annotations

_HEAD = """
import os
import signal
import sys
import time

import torch

model = torch.nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def train(steps, net=model):
    for _ in range(steps):
        optimizer.zero_grad()
        net(torch.ones(2, 4)).sum().backward()
        optimizer.step()
        time.sleep(0.05)

"""
_RANKS = """
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
rank = dist.get_rank()
wrapped = DistributedDataParallel(model)
train(8, wrapped)

"""

ONE = {
    "sleep_loop": "train(8)\nwhile not os.path.exists('never'):\n    time.sleep(0.5)\n",
    "lock": "import threading\n\nlock = threading.Lock()\nlock.acquire()\ntrain(8)\nwith lock:\n    train(8)\n",
    "queue_get": "import queue\n\nready = queue.Queue()\ntrain(8)\nprint(ready.get())\ntrain(8)\n",
    "fifo_read": "os.mkfifo('stats')\ntrain(8)\nwith open('stats') as file:\n    print(file.read())\n",
    "socket_accept": (
        "import socket\n\nserver = socket.create_server(('127.0.0.1', 0))\ntrain(8)\nserver.accept()\ntrain(8)\n"
    ),
    "subprocess_wait": "import subprocess\n\ntrain(8)\nsubprocess.run(['sleep', '3600'], check=False)\ntrain(8)\n",
    "stdin_read": "train(8)\nread, write = os.pipe()\nos.dup2(read, 0)\nprint(sys.stdin.readline())\n",
    "thread_join": """
import threading


def upload():
    threading.Event().wait()


train(8)
uploader = threading.Thread(target=upload, daemon=True)
uploader.start()
uploader.join()
train(8)
""",
    "loader_worker": """
class Data(torch.utils.data.Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, index):
        if index == 40:
            time.sleep(3600)
        return torch.ones(4)


if __name__ == "__main__":
    for batch in torch.utils.data.DataLoader(Data(), batch_size=4, num_workers=2):
        optimizer.zero_grad()
        model(batch).sum().backward()
        optimizer.step()
        time.sleep(0.05)
""",
    "interrupt_caught": """
try:
    train(8)
    time.sleep(3600)
    train(8)
except KeyboardInterrupt:
    print("interrupted by the user")
    sys.exit(0)
""",
    "exit_handler_joins": """
import atexit
import threading

stop = threading.Event()
writer = threading.Thread(target=stop.wait, daemon=True)
writer.start()


@atexit.register
def finish():
    writer.join(3)
    stop.set()
    writer.join()


train(8)
time.sleep(3600)
train(8)
""",
    "handler_saves": """
def save(number, frame):
    torch.save(model.state_dict(), "last.pt")
    sys.exit(0)


signal.signal(signal.SIGTERM, save)
signal.signal(signal.SIGHUP, save)
train(8)
time.sleep(3600)
train(8)
""",
    "finally_waits": """
import threading

done = threading.Event()
try:
    train(8)
    done.wait()
finally:
    time.sleep(1.5)
    torch.save(model.state_dict(), "last.pt")
""",
}

TWO = {
    "rank_sleeps": "if rank == 1:\n    time.sleep(3600)\ntrain(8, wrapped)\ndist.destroy_process_group()\n",
    "peer_waits_for_file": """
total = torch.ones(1)
if rank == 1:
    while not os.path.exists("labels.txt"):
        time.sleep(0.2)
dist.all_reduce(total)
train(4, wrapped)
dist.destroy_process_group()
""",
    "finally_destroys": """
try:
    if rank == 1:
        time.sleep(3600)
    dist.barrier()
finally:
    dist.destroy_process_group()
""",
    "file_lock": """
import fcntl

with open("lock", "a") as file:
    if rank == 0:
        fcntl.flock(file, fcntl.LOCK_EX)
        dist.barrier()
    else:
        time.sleep(0.5)
        fcntl.flock(file, fcntl.LOCK_EX)
        dist.barrier()
train(4, wrapped)
""",
}


def text_of(name: str) -> str:
    """Returns the program."""
    return _HEAD + (_RANKS + TWO[name] if name in TWO else ONE[name])
