"""Where a launcher has started this command on every host: they come to the first one, which asks all of them.

The first host listens while the command runs. It only ever receives answers; what it sends are questions from a fixed
list, never code.
"""

from __future__ import annotations

import hashlib
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from diagnostics.core import untrusted_json
from diagnostics.core.errors import DoctorError
from diagnostics.hosts.conversation import Conversation
from diagnostics.hosts.host_line import MARK, HostLine
from diagnostics.hosts.host_list import Host
from diagnostics.hosts.launcher import Launched
from diagnostics.hosts.starting import PROGRAMS, await_programs, shell_line, started

HELLO_S = 5.0
LONGEST_HELLO = 4096  # bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class _Newcomer:
    number: int
    name: str
    line: socket.socket


def token_of(run: Launched) -> str:
    """Returns what tells this run's hosts from another run's; launchers share no secret."""
    return hashlib.sha256(f"{run.run_id} {run.hosts} {os.getuid()}".encode()).hexdigest()[:32]


@contextmanager
def meet(run: Launched, *, python: str, within_s: float) -> Iterator[tuple[tuple[Host, ...], Conversation]]:
    """Gives the hosts in the launcher's order and the lines to those that came in time, this one among them."""
    token = token_of(run)
    with ExitStack() as stack:
        server = stack.enter_context(_server(run.port))
        own = Host(name=run.names[0] if run.names else socket.gethostname())
        here = started(own, ["sh"])
        stack.callback(here.close)
        here.put(shell_line(python, os.environ))
        await_programs(Conversation([here]), [here], token, within_s)
        came = _wait_for(server, run, token, within_s)
        hosts = (own, *(_host(run, number, came) for number in range(1, run.hosts)))
        lines = [here, *(HostLine(hosts[number], (one.line, one.line)) for number, one in sorted(came.items()))]
        conversation = Conversation(lines)
        stack.callback(conversation.close)
        yield hosts, conversation


def _server(port: int) -> socket.socket:
    try:
        if socket.has_dualstack_ipv6():
            return socket.create_server(("", port), family=socket.AF_INET6, dualstack_ipv6=True, backlog=512)
    except OSError:  # a kernel without IPv6 has the socket type and no address
        pass
    try:
        return socket.create_server(("", port), backlog=512)
    except OSError as error:
        raise DoctorError(
            f"the hosts were to meet at port {port} here: {error.strerror}", hint=f"ss -ltnp sport = :{port}"
        ) from error


def _host(run: Launched, number: int, came: dict[int, _Newcomer]) -> Host:
    if run.names:
        return Host(name=run.names[number])
    name = came[number].name if number in came else ""
    twice = sum(one.name == name for one in came.values()) > 1
    return Host(name=f"{name}#{number}" if twice else name or f"host-{number}")


def _wait_for(server: socket.socket, run: Launched, token: str, within_s: float) -> dict[int, _Newcomer]:
    until = time.monotonic() + within_s
    came: dict[int, _Newcomer] = {}
    while len(came) < run.hosts - 1 and (left := until - time.monotonic()) > 0:
        server.settimeout(left)
        try:
            line, _ = server.accept()
        except TimeoutError:
            break
        newcomer = _hello(line, token)
        if newcomer is None or not 0 < newcomer.number < run.hosts or newcomer.number in came:
            line.close()
        else:
            came[newcomer.number] = newcomer
    return came


def _hello(line: socket.socket, token: str) -> _Newcomer | None:
    """Returns who has connected, None for somebody else."""
    line.settimeout(HELLO_S)
    data = b""
    try:
        while not data.endswith(b"\n") and len(data) < LONGEST_HELLO:
            part = line.recv(LONGEST_HELLO)
            if not part:
                return None
            data += part
        said = untrusted_json.loads(data.removeprefix(MARK))
    except (OSError, ValueError):
        return None
    if not isinstance(said, dict) or said.get("token") != token or not isinstance(said.get("number"), int):
        return None
    return _Newcomer(number=said["number"], name=str(said.get("name") or "")[:200], line=line)


def serve_first_host(run: Launched, *, within_s: float) -> int:
    """Answers the first host until it has all it wants; returns the exit code of this task.

    The program is a process of its own: it is the same one that ssh starts elsewhere.
    """
    words = [
        sys.executable, str(PROGRAMS / "host_program.py"), run.first, str(run.port), token_of(run),
        socket.gethostname(), str(run.number), str(within_s),
    ]  # fmt: skip
    ended = subprocess.run(
        words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False
    )
    if ended.returncode == 0:
        return 0
    last = (ended.stderr.decode("utf-8", "replace").strip().splitlines() or [f"exit code {ended.returncode}"])[-1]
    raise DoctorError(
        f"host {socket.gethostname()} does not come to the first host {run.first}, port {run.port}: {last}",
        hint=f"on this host: getent hosts {run.first}; ip route get {run.first}",
        exit_code=3,
    )
