"""What is known of processes that died by a signal: all of them real."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from diagnostics.dynamic.job.last_activity import last_activity

ZOO = Path(__file__).parents[1] / "zoo"
OPERATOR = (ZOO / "segfault_operator.py").read_text()


def line_of(text: str, source: str = OPERATOR, occurrence: int = 0) -> int:
    return [number for number, line in enumerate(source.splitlines(), 1) if text in line][occurrence]


READ = line_of("return ctypes.string_at(address)")

# Imports torch once and forks: each child sets its rank, does one thing and dies of it.
DRIVER = """
import ctypes, os, signal, sys, threading
import torch
from torch import nn
from model import build

x = torch.ones(2, 4, 8)

class Dying(nn.Module):
    def __init__(self, how):
        super().__init__()
        self.how = how
    def forward(self, x):
        self.how()
        return x

def step(crash_in):
    build(crash_in)(x).sum().backward()

def in_model(how):
    nn.Sequential(nn.Linear(8, 8), Dying(how))(x)

def in_thread():
    thread = threading.Thread(target=in_model, args=(lambda: ctypes.string_at(0),), daemon=True)
    thread.start()
    thread.join()

def in_optimizer():
    model = build(None)
    model(x).sum().backward()
    torch.optim.SGD(model.parameters(), lr=0.1)
    ctypes.string_at(0)

def in_error():
    in_model(lambda: int("seven"))

CASES = [
    lambda: step("constructor"),
    lambda: step("forward"),
    lambda: step("backward"),
    lambda: in_model(lambda: os.kill(os.getpid(), signal.SIGKILL)),
    lambda: in_model(lambda: os.kill(os.getpid(), signal.SIGBUS)),
    lambda: in_model(os.abort),
    in_thread,
    in_optimizer,
    in_error,
]

for rank, case in enumerate(CASES):
    pid = os.fork()
    if not pid:
        sys.modules["_ups_doctor_agent"].mark(f"case {rank}")
        case()
        os._exit(0)
    print(rank, pid, os.waitpid(pid, 0)[1], flush=True)
"""
EXPECTED = {
    # case: (status, activity, module, line, error of faulthandler)
    0: (signal.SIGSEGV, "construct", "levels.1.attention", ("model.py", READ), "Segmentation fault"),
    1: (signal.SIGSEGV, "forward", "levels.1.attention", ("model.py", READ), "Segmentation fault"),
    2: (signal.SIGSEGV, "backward", "levels.1.attention", ("model.py", READ), "Segmentation fault"),
    3: (signal.SIGKILL, "forward", "1", None, None),
    4: (signal.SIGBUS, "forward", "1", ("main.py", line_of("SIGBUS", DRIVER)), "Bus error"),
    5: (signal.SIGABRT, "forward", "1", ("main.py", line_of("self.how()", DRIVER)), "Aborted"),
    6: (signal.SIGSEGV, "forward", "1", ("main.py", line_of("lambda: ctypes", DRIVER)), "Segmentation fault"),
    7: (signal.SIGSEGV, "", None, ("main.py", line_of("    ctypes.string_at(0)", DRIVER)), "Segmentation fault"),
    8: (256, "forward", "1", ("main.py", line_of('int("seven")', DRIVER)), None),
}


@pytest.fixture(scope="module")
def deaths(tmp_path_factory, watcher):
    run = watcher(tmp_path_factory.mktemp("deaths"))(DRIVER, files={"model.py": OPERATOR}, deep=True)
    assert run.returncode == 0, run.stderr
    found = {}
    for case, pid, status in (map(int, line.split()) for line in run.stdout.splitlines()):
        agent = run.record.of_pid(pid)
        assert agent is not None
        fault = run.record.fault_of(agent)
        found[case] = (status & ~0x80, agent, fault, last_activity(agent, fault, agent.last_event("exception")))
    return found


@pytest.mark.parametrize("case", EXPECTED)
def test_the_dead_process_tells_where_it_stood(deaths, case):
    status, _, fault, death = deaths[case]
    line = (death.frame.file.rpartition("/")[2], death.frame.line) if death.frame else None
    module = death.module.path if death.module else None
    assert (status, death.activity, module, line, fault and fault.error) == EXPECTED[case]
    assert death.phase == f"case {case}"


def test_the_lines_around_the_crash_are_shown(deaths):
    death = deaths[1][3]
    assert death.location == f"model.py:{READ}"
    assert [line for line in death.source if line.startswith(">")] == [
        f"> {READ:4d}      return ctypes.string_at(address)"
    ]
    assert death.where == f"forward of levels.1.attention (Attention), model.py:{READ}"


def test_an_uncaught_exception_keeps_its_text_and_its_path(deaths):
    event = deaths[8][1].last_event("exception")
    assert event.text == "ValueError: invalid literal for int() with base 10: 'seven'"
    assert [frame.function for frame in event.path][1:3] == ["Dying.forward", "in_model"]


def test_a_data_worker_that_dies_is_told_from_its_rank(watch):
    run = watch(
        """
        import os, signal
        import torch
        from torch.utils.data import DataLoader, Dataset

        class Samples(Dataset):
            def __len__(self): return 4
            def __getitem__(self, index):
                if index == 3:
                    os.kill(os.getpid(), signal.SIGBUS)
                return torch.ones(2)

        for batch in DataLoader(Samples(), num_workers=1): pass
        """,
        env={"RANK": "1"},
    )
    assert run.returncode == 1
    rank = run.record.of_rank(1)
    (worker,) = run.record.children_of(rank)
    assert worker.forked_from == rank.pid
    death = last_activity(worker, run.record.fault_of(worker))
    assert (death.location, death.activity) == ("main.py:10", "")
    # What the rank itself says depends on who notices first: a lost worker or a reset connection.
    assert rank.last_event("exception").path[0].line == 13
    assert [event.kind for event in rank.events][:3] == ["hooks", "dataloader-begin", "dataloader"]
    assert rank.events[1].path[0].line == 13
