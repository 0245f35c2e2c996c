"""Real jobs that train and then do not end, or whose forked worker never answers; and one that ends late."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

TRAIN = """
import sys

import torch

from monitor import Monitor

model = torch.nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
Monitor(float(sys.argv[1])).start()
for _ in range(20):
    optimizer.zero_grad()
    model(torch.ones(2, 4)).sum().backward()
    optimizer.step()
"""
MONITOR = """
import threading
import time


class Monitor:
    def __init__(self, seconds):
        self.until = time.monotonic() + seconds

    def watch(self):
        while time.monotonic() < self.until:
            time.sleep(0.2)

    def start(self):
        self.thread = threading.Thread(target=self.watch)
        self.thread.start()
"""
FORKED = """
import torch
from torch.utils.data import DataLoader

from data import Samples

model = torch.nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = DataLoader(Samples(), batch_size=4, num_workers=1, multiprocessing_context="fork")
for _ in range(10):
    optimizer.zero_grad()
    model(torch.ones(2, 4)).sum().backward()
    optimizer.step()
for batch in loader:
    model(batch)
"""
DATA = """
import threading
import time

import torch

lock = threading.Lock()


def refresh():
    with lock:
        time.sleep(3600)


class Samples(torch.utils.data.Dataset):
    def __init__(self):
        threading.Thread(target=refresh, daemon=True).start()

    def __len__(self):
        return 8

    def __getitem__(self, index):
        with lock:
            return torch.ones(4)
"""


def test_a_thread_that_outlives_the_training_is_the_line_that_made_it(watched: Callable[..., Any]) -> None:
    done = watched("python", "train.py", "3600", options=("--stall-timeout", "11"), train_py=TRAIN, monitor_py=MONITOR)
    assert done.verdict == ("hang", "shutdown-hang", [0], "monitor.py:15")
    assert (done.code, done.report["confidence"]) == (124, "confirmed")
    assert done.report["locations"][:3] == ["monitor.py:15", "monitor.py:16", "monitor.py:12"]


def test_a_thread_that_ends_a_little_later_is_none(watched: Callable[..., Any]) -> None:
    done = watched("python", "train.py", "3", train_py=TRAIN, monitor_py=MONITOR)
    assert (done.verdict, done.code) == (("ok", "none", [], None), 0)


def test_a_lock_held_while_a_worker_was_forked_is_told_with_child_thread_and_loader(
    watched: Callable[..., Any],
) -> None:
    done = watched("python", "train.py", options=("--stall-timeout", "11"), train_py=FORKED, data_py=DATA)
    assert done.verdict == ("hang", "fork-deadlock", [0], "data.py:11")
    assert (done.code, done.report["confidence"]) == (124, "confirmed")
    assert done.report["locations"][:4] == ["data.py:11", "data.py:23", "data.py:12", "train.py:9"]
