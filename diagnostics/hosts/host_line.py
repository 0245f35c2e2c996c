"""The line to the program on one host: bytes out, lines in, and what its starter said on stderr. It never blocks."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import socket
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

from diagnostics.core import untrusted_json
from diagnostics.hosts.host_list import Host

MARK = b"ups-doctor-host:"
LONGEST_LINE = 8 << 20  # bytes; a longer one is no answer
KEPT = 4000  # bytes of stderr


class HostLine:
    """One host's line, over the pipes of a process that was started here or over a socket that came in."""

    def __init__(
        self,
        host: Host,
        streams: Sequence[IO[bytes] | socket.socket],
        process: subprocess.Popen[bytes] | None = None,
        words: Sequence[str] = (),
    ) -> None:
        """`streams`: where questions go, where answers come from, and for a process its stderr."""
        self.host = host
        self.process = process
        self.words = words
        self.ended = ""  # why there will be no answer any more
        self.said = b""
        self._streams = streams
        self._writable, self._answers, *self._errors = (one.fileno() for one in streams)
        self._quiet = False  # stderr has ended
        self._in, self._out = b"", b""
        for one in streams:
            os.set_blocking(one.fileno(), False)

    def put(self, data: bytes) -> None:
        """Queues bytes; `flush` sends them."""
        self._out += data

    def wanted_events(self) -> dict[int, int]:
        """Returns for each descriptor what is waited for, 0 for nothing."""
        wanted = dict.fromkeys((self._writable, self._answers, *self._errors), 0)
        if not self.ended:
            wanted[self._answers] |= selectors.EVENT_READ
            for descriptor in self._errors:
                wanted[descriptor] |= 0 if self._quiet else selectors.EVENT_READ
            wanted[self._writable] |= selectors.EVENT_WRITE if self._out else 0
        return wanted

    def flush(self) -> None:
        """Sends what goes out without waiting."""
        try:
            self._out = self._out[os.write(self._writable, self._out) :]
        except BlockingIOError:
            return
        except OSError:  # the reading side tells why
            self._out = b""

    def take(self, descriptor: int) -> list[Any]:
        """Returns the answers that have come in whole on a descriptor; at its end the line has ended."""
        try:
            data = os.read(descriptor, 1 << 16)
        except BlockingIOError:
            return []
        except OSError as error:
            data, self.said = b"", self.said + f"{error.strerror}".encode()
        if descriptor in self._errors:
            self._quiet, self.said = not data, (self.said + data)[-KEPT:]
            return []
        if not data:
            self.end()
            return []
        *lines, self._in = (self._in + data).split(b"\n")
        if len(self._in) > LONGEST_LINE:
            self.end("its answer has no end")
        return [found for line in lines if line.startswith(MARK) and (found := _read(line)) is not None]

    def end(self, why: str = "") -> None:
        """Notes that this line gives no answer any more, with what the starter said and its exit code."""
        if self.ended:
            return
        if self.process is None:
            self.ended = why or f"the connection of {self.host.name} closed"
            return
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(1.0)
        starter = Path(self.words[0]).name if self.words else "its starter"
        self.ended = why or f"{starter} ended with exit code {self.process.poll()}{self.last_words()}"

    def last_words(self) -> str:
        """Returns `: what it said last`, "" where it said nothing."""
        for descriptor in self._errors:
            with contextlib.suppress(BlockingIOError, OSError):
                self.said = (self.said + os.read(descriptor, 1 << 16))[-KEPT:]
        lines = [line.strip() for line in self.said.decode("utf-8", "replace").splitlines() if line.strip()]
        return f": {lines[-1][:300]}" if lines else ""

    def close(self) -> None:
        """Ends the program there and whatever was started here for it; nothing is left."""
        for one in self._streams:
            with contextlib.suppress(OSError):
                one.close()
        self._errors = []
        if self.process is None:
            return
        try:
            self.process.wait(1.0)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


def _read(line: bytes) -> Any:
    try:
        return untrusted_json.loads(line[len(MARK) :])
    except ValueError:
        return None


def request(number: int, question: str, given: dict[str, Any]) -> bytes:
    """Returns one question as it goes over the line."""
    return json.dumps({"id": number, "op": question, "with": given}).encode() + b"\n"
