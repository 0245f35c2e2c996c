"""The warm child: one process that has imported torch and forks ranks, and the socket to it."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import tempfile
import time
from collections.abc import Sequence
from typing import Any

from diagnostics.core.own_folders import CHILDREN
from diagnostics.machine.execution.bounded_output import last_lines
from diagnostics.machine.execution.child_process import environment, new_mark
from diagnostics.machine.execution.readiness import readable
from diagnostics.machine.facts import ChildTimeout, MachineError
from diagnostics.machine.processes.descendants import end_family


class TorchHost:
    """Starts `children/host.py` at once and does not wait for it.

    The kernel ends the host when the THREAD that started it ends: start it from one that stays.
    Raises MachineError where `python` cannot be started.
    """

    def __init__(self, python: str, late: Sequence[str] = ()) -> None:
        """`late` are modules to import after the hello."""
        self.python = python
        self._late, self._imports = set(late), int(bool(late))
        self._mark = new_mark()
        self._buffer = b""
        self._output = tempfile.TemporaryFile()  # noqa: SIM115 - closed by close()
        self._socket, theirs = socket.socketpair()
        try:
            self.process = subprocess.Popen(
                [python, str(CHILDREN / "host.py"), str(theirs.fileno()), str(os.getpid()), *late],
                stdin=subprocess.DEVNULL,
                stdout=self._output,
                stderr=self._output,
                env=environment({}, self._mark),
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
            )
        except OSError as error:
            self._socket.close()
            self._output.close()
            raise MachineError(f"cannot start {python}: {error.strerror or error}") from error
        finally:
            theirs.close()

    def import_late(self, late: Sequence[str]) -> None:
        """Has it import what it was not asked for yet; does not wait. Raises MachineError where the host is gone."""
        if not self._late.issuperset(late):
            self.send({"late": list(late)})
            self._late.update(late)
            self._imports += 1

    def imported(self, deadline_s: float) -> None:
        """Waits, after the hello, until late modules are there: no request's time. Raises as receive() does."""
        while self._imports:
            self.receive(deadline_s)
            self._imports -= 1

    def send(self, request: dict[str, Any]) -> None:
        """Sends one request. Raises MachineError where the host is gone."""
        try:
            self._socket.sendall(json.dumps(request).encode() + b"\n")
        except OSError:
            raise self.died() from None

    def receive(self, deadline_s: float) -> dict[str, Any]:
        """Returns the next message. Raises ChildTimeout, and MachineError where the host died."""
        until = time.monotonic() + deadline_s
        while b"\n" not in self._buffer:
            if not readable([self._socket.fileno()], until - time.monotonic()):
                raise ChildTimeout(f"{self.python} gave no answer within {deadline_s:g} s{self._last_words()}")
            try:
                chunk = self._socket.recv(1 << 16)
            except ConnectionResetError:
                chunk = b""
            if not chunk:
                raise self.died()
            self._buffer += chunk
        line, _, self._buffer = self._buffer.partition(b"\n")
        message: dict[str, Any] = json.loads(line)
        return message

    def died(self) -> MachineError:
        """Returns how the host ended, with its last words."""
        try:
            code = self.process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            return MachineError(f"{self.python} closed its socket and goes on{self._last_words()}")
        how = f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
        return MachineError(f"{self.python}, which imports torch and runs the ranks, {how}{self._last_words()}")

    def close(self) -> None:
        """Ends the host and every rank it has; may be called twice."""
        self._socket.close()
        if self.process.returncode is None:
            end_family(self.process.pid, self._mark)
            self.process.wait(timeout=10)
        self._output.close()

    def _last_words(self) -> str:
        """The end of what it wrote; what it said before it was killed by faulthandler's report is kept."""
        if self._output.closed:
            return ""
        size = self._output.seek(0, os.SEEK_END)
        self._output.seek(max(0, size - 4096))
        said = last_lines(self._output.read().decode(errors="replace"))
        return f"; it last said: {said}" if said else ""
