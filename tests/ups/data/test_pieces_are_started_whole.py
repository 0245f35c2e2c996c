"""A signal that another thread receives while a worker is being started waits until the worker has its work."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]

PROGRAM = """
import os, signal, socket, sys, threading
from ups.data.pieces import _interrupts_held

threading.Thread(target=threading.Event().wait, daemon=True).start()  # as numpy's: it masks nothing
arrived, woken = socket.socketpair()
woken.setblocking(False)
signal.set_wakeup_fd(woken.fileno())
number = signal.Signals[sys.argv[1]]
if len(sys.argv) > 2:
    signal.signal(number, getattr(signal, sys.argv[2]))
elif number == signal.SIGTERM:
    signal.signal(number, lambda number, frame: sys.exit("ended"))
try:
    with _interrupts_held():
        os.kill(os.getpid(), number)
        if len(sys.argv) == 2:
            arrived.recv(1)
        print("the work is whole")
    print("nothing came")
except (KeyboardInterrupt, SystemExit) as error:
    print("then", type(error).__name__)
print(signal.getsignal(number), signal.pthread_sigmask(signal.SIG_BLOCK, ()))
"""


def said(*arguments: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments], capture_output=True, text=True, timeout=60, cwd=ROOT, check=True
    )
    return done.stdout.splitlines()


@pytest.mark.parametrize(("name", "raised"), [("SIGINT", "KeyboardInterrupt"), ("SIGTERM", "SystemExit")])
def test_a_signal_that_another_thread_receives_is_held_back_and_then_raised(name: str, raised: str) -> None:
    *first, last = said(name)
    assert first == ["the work is whole", f"then {raised}"]
    assert "_remember" not in last
    assert last.endswith(" set()")


def test_a_signal_that_is_ignored_stays_so() -> None:
    assert said("SIGTERM", "SIG_IGN") == ["the work is whole", "nothing came", "1 set()"]
