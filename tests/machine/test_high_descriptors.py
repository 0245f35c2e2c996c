"""Descriptors from 1024 on, which select.select refuses: a job of many processes has one stream for each."""

from __future__ import annotations

import os
import resource
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from diagnostics.children.output.destination import Destination, Source
from diagnostics.children.output.relay import Relay
from diagnostics.machine.execution.forked import Forked, NoAnswerError

HIGH = 1100  # the first number that is given out here


@pytest.fixture
def high() -> Iterator[Callable[[int], int]]:
    """Moves a descriptor to a number of its own from HIGH on."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    if before[1] < 2 * HIGH:
        pytest.skip(f"no more than {before[1]} files may be open here: ulimit -Hn {2 * HIGH}")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(before[0], 2 * HIGH), before[1]))
    with ExitStack() as opened:

        def moved(fd: int) -> int:
            number = next(number for number in range(HIGH, 2 * HIGH) if not Path(f"/proc/self/fd/{number}").exists())
            os.dup2(fd, number)
            os.close(fd)
            opened.callback(_close, number)
            return number

        yield moved
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


def _close(fd: int) -> None:
    if Path(f"/proc/self/fd/{fd}").exists():
        os.close(fd)


def test_a_stream_with_a_high_number_is_passed_on_settled_and_drained(
    tmp_path: Path, high: Callable[[int], int]
) -> None:
    control, doctor = socket.socketpair()
    listener = socket.socket(socket.AF_UNIX)
    relay = Relay(control.detach(), listener.detach(), str(tmp_path), "[]")
    ours, number = os.pipe()
    number = high(number)
    os.set_blocking(number, False)  # as a program that was started before may have left our stdout
    destination = Destination(relay, number)
    destination.thread.start()
    reading, job = os.pipe()
    destination.add(Source(high(reading), tmp_path / "stream-1", None))
    doctor.settimeout(20)
    for said in (b"first", b"second"):
        os.write(job, said)
        agent, theirs = socket.socketpair()
        agent.settimeout(20)
        destination.ask_to_settle("stream-1", theirs)
        assert (agent.recv(1), os.read(ours, 100)) == (b"k", said)
        agent.close()
    flood = bytes(range(256)) * 1000
    writer = os.fork()
    if writer == 0:  # more than a pipe holds: the relay waits until we read
        os.write(job, flood)
        os._exit(0)
    seen = b""
    while len(seen) < len(flood):
        seen += os.read(ours, 1 << 16)
    os.waitpid(writer, 0)
    os.write(job, b"last")
    relay.finishing = True
    os.write(destination.wake, b"x")
    destination.thread.join(20)
    assert not destination.thread.is_alive()
    assert (seen, os.read(ours, 100)) == (flood, b"last")
    for fd in (ours, job, destination.wake, destination.woken, relay.wake, relay.woken):
        os.close(fd)
    destination.poll.close()
    relay.control.close()
    relay.listener.close()
    doctor.close()


def test_a_copy_of_this_process_is_heard_through_a_high_number(high: Callable[[int], int]) -> None:
    with Forked(lambda send: send("heard")) as copy:
        copy.fd = high(copy.fd)
        assert copy.receive(time.monotonic() + 20) == "heard"
        with pytest.raises(NoAnswerError, match="exit code 0"):
            copy.receive(time.monotonic() + 20)
