"""What the steps of a loop consist of, as the agent's one clock tells, and how long data workers take."""

from __future__ import annotations

import gc
import time

import pytest

from diagnostics.agent.torch_hooks.collection_times import CollectionTimes
from diagnostics.record.step_timings import Phase

LOOP = """
import io, sys, time
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

SLEEPS = {{"data": 0.01, "forward": 0.02, "backward": 0.03, "optimizer": 0.04, "checkpoint": 0.05, "other": 0.06}}

class Samples(Dataset):
    def __len__(self): return 8
    def __getitem__(self, index):
        time.sleep(SLEEPS["data"] / 2)
        return torch.ones(4)

def collate(samples):
    time.sleep(0.004)
    return torch.stack(samples)

class Slow(torch.autograd.Function):
    @staticmethod
    def forward(context, x): return x.clone()
    @staticmethod
    def backward(context, gradient):
        time.sleep(SLEEPS["backward"])
        return gradient

class Model(nn.Linear):
    def forward(self, x):
        time.sleep(SLEEPS["forward"])
        return Slow.apply(super().forward(x))

class Late(torch.optim.SGD):
    def step(self):
        time.sleep(SLEEPS["optimizer"])
        return super().step()

class Disk(io.BytesIO):
    def flush(self):
        time.sleep(0)

model = Model(4, 1)
optimizer = Late(model.parameters(), lr=0.1)
step = 0
for epoch in range(2):
    for x in DataLoader(Samples(), batch_size=2, num_workers={workers}, collate_fn=collate):
        loss = model(x).sum()
        optimizer.zero_grad()
        loss.backward()
        began = time.perf_counter()
        torch.save({{"step": step}}, Disk())
        time.sleep(SLEEPS["other"])
        optimizer.step()
        step += 1
with torch.no_grad():
    model(x)
"""


@pytest.fixture
def watch(watch_warm):
    """What these programs do is asked, not how they start."""
    return watch_warm


def timings(watch, workers):
    run = watch(LOOP.format(workers=workers))
    assert (run.returncode, run.stderr) == (0, "")
    (agent,) = (agent for agent in run.record.agents if agent.steps.count)
    return agent.timings


@pytest.fixture(scope="module")
def alone(watcher, tmp_path_factory):
    return timings(watcher(tmp_path_factory.mktemp("alone"), warm=True), 0)


def test_each_phase_has_its_own_time_and_together_they_are_the_step(alone):
    assert [step.number for step in alone.steps] == list(range(2, 9))  # the first one has no beginning
    assert (alone.count, alone.on_device, alone.threads) == (8, False, 1)
    least = {Phase.DATA: 0.014, Phase.FORWARD: 0.02, Phase.BACKWARD: 0.03, Phase.OPTIMIZER: 0.04, Phase.OTHER: 0.06}
    for step in alone.steps:
        assert {phase: step.of(phase) >= seconds for phase, seconds in least.items()} == dict.fromkeys(least, True)
        assert step.of(Phase.CHECKPOINT) > 0
        assert step.of(Phase.COLLECTIVE) == step.of(Phase.EVALUATION) == 0
        # What sleeps is not on the CPU.
        assert step.backward_cpu_s < 0.5 * step.of(Phase.BACKWARD)
        assert step.cpu_s < 0.5 * step.wall_s
    for earlier, later in zip(alone.steps, alone.steps[1:], strict=False):
        assert later.end_s - earlier.end_s == pytest.approx(later.wall_s, abs=1e-4)


def test_a_process_without_workers_tells_what_making_a_batch_takes(alone):
    (row,) = alone.stages
    assert (row.loader, row.worker, row.batches) == (0, 0, 8)
    assert row.fetch_s >= 8 * 0.014
    assert 8 * 0.004 <= row.collate_s < 0.7 * row.fetch_s
    assert row.fetch_cpu_s < 0.5 * row.fetch_s


def test_forked_workers_tell_it_of_themselves(watch):
    rows = timings(watch, 2).stages
    assert [(row.loader, row.worker, row.batches) for row in rows] == [(0, 0, 4), (0, 1, 4)]
    assert all(row.fetch_s >= 4 * 0.014 and row.collate_s >= 4 * 0.004 for row in rows)


OTHERS = """
import gc, os, threading
import torch
import torch.distributed as dist
from torch import nn

dist.init_process_group("gloo", init_method=f"file://{os.getcwd()}/store", rank=0, world_size=1)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

def train(steps, alone=False):
    for step in range(steps):
        with torch.no_grad():
            model(torch.ones(2, 4))
        loss = model(torch.ones(2, 4)).sum()
        loss.backward()
        if not alone:  # the threads of gloo do not come along
            dist.all_reduce(model.weight.grad, async_op=True).wait()
        gc.collect()
        optimizer.step()

train(3)
one = threading.Thread(target=train, args=(4,))
one.start()
one.join()
pid = os.fork()
if not pid:
    train(5, alone=True)
    os._exit(0)
assert os.waitpid(pid, 0)[1] == 0
dist.destroy_process_group()
"""


def test_another_thread_and_a_forked_child_are_followed_and_waiting_for_ranks_is_told_apart(watch):
    run = watch(OTHERS)
    assert (run.returncode, run.stderr) == (0, "")
    parent, child = sorted((agent for agent in run.record.agents if agent.steps.count), key=lambda one: one.forked_from)
    # The step in which the thread changes has no beginning that is known.
    assert [step.number for step in parent.timings.steps] == [2, 3, 5, 6, 7]
    assert [step.number for step in child.timings.steps] == [2, 3, 4, 5]
    for step in parent.timings.steps:
        assert step.evaluated
        assert min(step.of(Phase.COLLECTIVE), step.of(Phase.EVALUATION), step.gc_s) > 0
    assert parent.timings.gc_count >= 7


SIGNALLED = """
import gc, signal
import torch

def stop(number, frame):
    raise KeyboardInterrupt

signal.signal(signal.SIGALRM, stop)
kept = [[number] for number in range(3_000_000)]
gc.collect()
signal.setitimer(signal.ITIMER_REAL, 0.02)
try:
    gc.collect()  # takes longer than that
    signal.pause()
except KeyboardInterrupt:
    print("heard")
"""


def test_a_signal_that_comes_during_a_garbage_collection_reaches_the_program(watch):
    run = watch(SIGNALLED)
    assert (run.returncode, run.stdout, run.stderr) == (0, "heard\n", "")


def test_collections_are_counted_and_timed_also_where_nobody_asks_for_long():
    found = CollectionTimes()
    found.begin()
    try:
        began = time.monotonic_ns()
        for _ in range(20):
            gc.collect()
        took = time.monotonic_ns() - began
        found.read()
        assert (found.count, 0 < found.ns <= took) == (20, True)
        for _ in range(20_000):
            gc.collect(0)
        found.read()
        assert 20 + 16_384 - 1 <= found.count <= 20 + 16_384 + 1
    finally:
        gc.callbacks.remove(found._callback)
