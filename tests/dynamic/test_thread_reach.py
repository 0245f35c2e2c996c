"""Whether a thread beside the main thread may still make a call of the group, by its stack and the sources."""

from __future__ import annotations

from pathlib import Path

import pytest

from diagnostics.core.frame import Frame
from diagnostics.dynamic.collectives.thread_reachability import ThreadReachability
from diagnostics.record.stacks import ThreadFrames
from diagnostics.static.program.source_file import SourceStore

THREADING, QUEUE = "/usr/lib/python3.11/threading.py", "/usr/lib/python3.11/queue.py"
PACKAGES = "/venv/lib/python3.11/site-packages"
PROGRAM = """
import socket
import threading
import time
import torch.distributed as dist


def late():
    time.sleep(60)
    dist.barrier()


def beat():
    while True:
        time.sleep(10)
        print("alive", dist.get_rank())


class Saver:
    def save(self):
        self._write()
        self._agree()

    def _write(self):
        time.sleep(60)

    def _agree(self):
        dist.all_reduce(self.done)


def work(tasks):
    for task in iter(tasks.get, None):
        task()


def serve(connection):
    connection.recv(100)
    connection.send(b"ok")


def schedule():
    threading.Timer(60, late).start()
"""
QUIET_TIMER = "import threading, os\nthreading.Timer(60, os.abort).start()\n"


def thread(*places: str) -> ThreadFrames:
    """Returns a thread at "file:line:function", innermost first."""
    words = [place.rsplit(":", 2) for place in places]
    frames = tuple(Frame(file=file, line=int(line), function=function) for file, line, function in words)
    return ThreadFrames(name="Thread-1", native=7, main=False, frames=frames)


def reach(folder: Path, program: str = PROGRAM) -> ThreadReachability:
    (folder / "train.py").write_text(program)
    return ThreadReachability(
        SourceStore(str(folder)), ("/doctor/agent",), [Frame(file="train.py", line=1, function="<module>")]
    )


TIMER = (f"{THREADING}:331:Condition.wait", f"{THREADING}:629:Event.wait", f"{THREADING}:1399:Timer.run")
CASES = {
    "it sleeps before the call": (("train.py:9:late",), True),
    "it only says that it lives": (("train.py:15:beat",), False),
    "its caller makes the call afterwards": (("train.py:25:Saver._write", "train.py:21:Saver.save"), True),
    "it runs what it is given": ((f"{QUEUE}:171:get", "train.py:32:work"), True),
    "it talks over a socket": (("train.py:37:serve",), False),
    "it is a timer that makes the call": (TIMER, True),
    "it waits in a pool for work": ((f"{QUEUE}:171:get", "/usr/lib/python3.11/concurrent/futures/thread.py:81:_worker"),
                                    False),
    "it is a package's": ((f"{QUEUE}:171:get", f"{PACKAGES}/tqdm/_monitor.py:60:TMonitor.run"), False),
    "it is a checkpoint of torch": ((f"{PACKAGES}/torch/distributed/checkpoint/async_executor.py:9:save",), True),
    "its source is not there": (("/elsewhere/gone.py:9:run",), True),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_thread_may_call_where(name: str, tmp_path: Path) -> None:
    places, expected = CASES[name]
    assert reach(tmp_path).may_call(thread(*places)) is expected


def test_a_timer_that_calls_nothing_of_the_project_is_taken_for_one_that_may(tmp_path: Path) -> None:
    assert reach(tmp_path, QUIET_TIMER).may_call(thread(*TIMER))


def test_only_threads_with_code_of_the_project_may_set_keys(tmp_path: Path) -> None:
    found = reach(tmp_path)
    assert found.runs_project_code(thread("train.py:15:beat"))
    assert found.runs_project_code(thread(*TIMER))
    assert not found.runs_project_code(thread(f"{PACKAGES}/tqdm/_monitor.py:60:TMonitor.run"))
    assert not found.runs_project_code(thread("/doctor/agent/flight.py:60:run"))
