"""What the job gets as stdout and stderr, and the relay behind it (children/relay.py)."""

from __future__ import annotations

import fcntl
import json
import os
import re
import secrets
import signal
import socket
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from diagnostics.core.own_folders import CHILDREN
from diagnostics.machine.execution.readiness import readable

RELAY = CHILDREN / "relay.py"
ADDRESS_VARIABLE = "UPS_DOCTOR_STREAMS"
_OUT, _ERR = 1, 2
_STREAM = re.compile(r"stream-[0-9a-f]+-[0-9a-f]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Channel:
    destination: int
    reading: int
    writing: int


class JobStreams:
    """Opens pipes, or terminals where ours are, and starts the relay. Raises OSError where that cannot be done."""

    def __init__(self, agents: Path, keeper: list[str]) -> None:
        self.address = f"ups-doctor-{secrets.token_hex(12)}"
        self._agents = agents
        self._channels = [_open_channel(_OUT)]
        if not _same_file(_OUT, _ERR):
            self._channels.append(_open_channel(_ERR))
        names = [self._announce(channel) for channel in self._channels]
        self._control, theirs = socket.socketpair()
        listener = self._listen()  # before the relay runs: the job's first process may be faster
        try:
            self._relay = self._start(theirs, listener, names, keeper)
        finally:
            theirs.close()
            listener.close()
        self._given = {_numbers(name) for name in names}
        self._received = b""
        self._asking = threading.Lock()  # one question at a time
        self._finished = False
        self.total_bytes = self.lost_bytes = 0

    @property
    def pid(self) -> int:
        """The relay's."""
        return self._relay.pid

    @property
    def for_job(self) -> tuple[int, int]:
        """The descriptors that become the job's stdout and stderr."""
        return self._channels[0].writing, self._channels[-1].writing

    def files(self) -> frozenset[tuple[int, int]]:
        """Returns (device, inode) of what the job was given as output, and of what agents made of it."""
        return frozenset(self._given | {_numbers(name) for name in _stream_names(self._agents)})

    def job_has_started(self) -> None:
        """Closes our copies of the ends; the relay and the job have theirs."""
        for channel in self._channels:
            os.close(channel.writing)
            os.close(channel.reading)

    def resize(self) -> None:
        """Gives the job's terminals the size of ours."""
        with self._asking:  # the job asks for the size as soon as it hears of the change
            self._say("size")
            self._wait_for("resized", time.monotonic() + 1.0)

    def write_copies(self, deadline_s: float) -> None:
        """Has the relay write what the job wrote so far into the record."""
        with self._asking:
            self._say("copies")
            self._wait_for("copied", time.monotonic() + deadline_s)

    def count(self, deadline_s: float = 0.5) -> int:
        """Returns how many bytes the job has written, as far as is known without waiting for another question."""
        if self._asking.acquire(blocking=False):
            try:
                self._say("total")
                self._wait_for("total", time.monotonic() + deadline_s)
            finally:
                self._asking.release()
        return self.total_bytes

    def finish(self, deadline_s: Callable[[], float | None]) -> bool:
        """Passes on what is left and ends the relay; False where that took longer than `deadline_s` allows.

        Without a deadline it waits as long as our reader does not read: the job would have waited, too.
        """
        with self._asking:
            return self._finish(deadline_s)

    def leave(self, deadline_s: float = 5.0) -> None:
        """Leaves the relay to those who still write to it; what was written so far is in the record then."""
        with self._asking:
            self._say("leave")
            self._wait_for("left", time.monotonic() + deadline_s)
            self._control.close()  # from now on it ends with the last of them

    def _finish(self, deadline_s: Callable[[], float | None]) -> bool:
        self._say("finish")
        started = time.monotonic()
        while not self._finished:
            limit = deadline_s()
            if limit is not None and time.monotonic() - started > limit:
                os.killpg(self._relay.pid, signal.SIGKILL)  # its session, and so the keeper it may have started
                break
            if self._wait_for("finished", time.monotonic() + 0.2) is None:
                break
        self._relay.wait()
        self._control.close()
        return self._finished

    def _say(self, line: str) -> None:
        try:
            self._control.sendall(line.encode() + b"\n")
        except OSError:  # the relay was killed
            return

    def _wait_for(self, word: str, until: float) -> bool | None:
        """Returns whether the relay said `word` in time, None where it is gone."""
        while True:
            *lines, self._received = self._received.split(b"\n")
            answers = [line.decode().split() for line in lines]
            for words in answers:
                self._take(words)
            if any(words and words[0] == word for words in answers):
                return True
            left = until - time.monotonic()
            if left <= 0 or not readable([self._control.fileno()], left):
                return False
            try:
                data = self._control.recv(4096)
            except OSError:  # it was killed before it read what we said
                return None
            if not data:
                return None
            self._received += data

    def _take(self, words: list[str]) -> None:
        if words[:1] == ["total"]:
            self.total_bytes = int(words[1])
        elif words[:1] == ["finished"]:
            self.total_bytes, self.lost_bytes, self._finished = int(words[1]), int(words[2]), True

    def _announce(self, channel: _Channel) -> str:
        """Leaves the file that tells agents: this is the relay's."""
        facts = os.fstat(channel.writing)
        name = f"stream-{facts.st_dev:x}-{facts.st_ino:x}"
        try:
            (self._agents / name).touch(0o600)
        except OSError:  # processes cannot be told apart; all else works
            return name
        return name

    def _listen(self) -> socket.socket:
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind(b"\0" + self.address.encode())  # no file: nothing to clean up, and no limit of 108 characters
        listener.listen(512)
        listener.setblocking(False)
        return listener

    def _start(
        self, control: socket.socket, listener: socket.socket, names: list[str], keeper: list[str]
    ) -> subprocess.Popen[bytes]:
        mains = [
            f"{channel.destination}={channel.reading}={name}"
            for channel, name in zip(self._channels, names, strict=True)
        ]
        argv = [str(control.fileno()), str(listener.fileno()), str(self._agents), json.dumps(keeper), *mains]
        return subprocess.Popen(
            [sys.executable, "-I", "-S", str(RELAY), *argv],
            stdin=subprocess.DEVNULL,
            pass_fds=[control.fileno(), listener.fileno(), *(channel.reading for channel in self._channels)],
            start_new_session=True,  # neither Ctrl-C nor the end of our terminal's session is meant for it
            cwd="/",
        )


def _stream_names(agents: Path) -> list[str]:
    try:
        return [entry.name for entry in os.scandir(agents) if _STREAM.fullmatch(entry.name)]
    except OSError:  # removed by the job
        return []


def _numbers(name: str) -> tuple[int, int]:
    _, device, inode = name.split("-")
    return int(device, 16), int(inode, 16)


def _same_file(one: int, other: int) -> bool:
    first, second = os.fstat(one), os.fstat(other)
    return (first.st_dev, first.st_ino) == (second.st_dev, second.st_ino)


def _open_channel(destination: int) -> _Channel:
    if not os.isatty(destination):
        return _Channel(destination=destination, **dict(zip(("reading", "writing"), os.pipe(), strict=True)))
    master, slave = os.openpty()
    attributes = termios.tcgetattr(destination)
    attributes[1] &= ~termios.OPOST  # the real terminal turns "\n" into "\r\n"; twice would be once too often
    termios.tcsetattr(slave, termios.TCSANOW, attributes)
    fcntl.ioctl(slave, termios.TIOCSWINSZ, fcntl.ioctl(destination, termios.TIOCGWINSZ, b"\0" * 8))
    return _Channel(destination=destination, reading=master, writing=slave)
