"""TCP ports and interfaces, read from /proc and tried with real sockets."""

from __future__ import annotations

import ipaddress
import pwd
import socket
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil

from diagnostics.machine.contract import Processes
from diagnostics.machine.facts import Interface, PortHolder

_LISTEN = "0A"  # the state's number in /proc/net/tcp


@dataclass(frozen=True, slots=True, kw_only=True)
class _Listener:
    address: str
    port: int
    uid: int
    inode: int


class TcpNetwork:
    """The Network provider."""

    def __init__(self, processes: Processes) -> None:
        self._processes = processes

    def free_port(self) -> int:
        """Returns a port the kernel just handed out; another program may take it at any time."""
        with socket.socket() as server:
            server.bind(("", 0))
            return int(server.getsockname()[1])

    def is_free(self, port: int) -> bool:
        """Binds and listens on all addresses, as torch's store does; TIME_WAIT does not count."""
        with socket.socket() as server:
            server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                server.bind(("", port))
                server.listen(1)
            except OSError:
                return False
        return True

    def port_holder(self, port: int) -> PortHolder | None:
        """Returns the first listener; its process is None where it belongs to another user."""
        listener = next((item for item in _listeners() if item.port == port), None)
        if listener is None:
            return None
        pid = _owner(listener.inode)
        process = self._processes.find(pid) if pid is not None else None
        return PortHolder(port=port, address=listener.address, user=_user_name(listener.uid), process=process)

    def interfaces(self) -> tuple[Interface, ...]:
        """Returns the interfaces by name; link-layer addresses are left out."""
        states = psutil.net_if_stats()
        wanted = (socket.AF_INET, socket.AF_INET6)
        found = []
        for name, entries in sorted(psutil.net_if_addrs().items()):
            addresses = tuple(entry.address.split("%")[0] for entry in entries if entry.family in wanted)
            loopback = bool(addresses) and all(ipaddress.ip_address(item).is_loopback for item in addresses)
            up = name in states and states[name].isup
            found.append(Interface(name=name, addresses=addresses, up=up, loopback=loopback))
        return tuple(found)


def _listeners() -> Iterator[_Listener]:
    # psutil would give the same, but hides the owner's uid where it may not see the process.
    for table in (Path("/proc/net/tcp"), Path("/proc/net/tcp6")):
        try:
            lines = table.read_text(encoding="ascii").splitlines()[1:]
        except OSError:  # a kernel without IPv6
            continue
        for line in lines:
            fields = line.split()
            if fields[3] == _LISTEN:
                address, port = fields[1].split(":")
                yield _Listener(address=_address(address), port=int(port, 16), uid=int(fields[7]), inode=int(fields[9]))


def _address(digits: str) -> str:
    """Returns the readable form; the kernel prints 32-bit words in the machine's byte order."""
    raw = bytes.fromhex(digits)
    if sys.byteorder == "little":
        raw = b"".join(raw[start : start + 4][::-1] for start in range(0, len(raw), 4))
    return str(ipaddress.ip_address(raw))


def _owner(inode: int) -> int | None:
    """Returns the pid that holds the socket, None where it may not be seen."""
    wanted = f"socket:[{inode}]"
    for process in Path("/proc").iterdir():
        if not process.name.isdigit():
            continue
        try:
            if any(str(item.readlink()) == wanted for item in (process / "fd").iterdir()):
                return int(process.name)
        except OSError:  # another user's, or gone meanwhile
            continue
    return None


def _user_name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)
