"""Hosts that are network namespaces of this machine, on one bridge, each with its own name, /etc/hosts and faults.

Real is what the kernel does: addresses, routes, MTU, drops, host names, mounts. One clock is shared by all, since the
kernel's time namespaces hold no wall clock: a skewed one is a library in front of the C library's (`skewed_clock.c`).
Needs root and iproute2.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# Neighbours that the kernel keeps, of all its namespaces together: 64 hosts that all know each other need 4032.
MOST_NEIGHBOURS = Path("/proc/sys/net/ipv4/neigh/default/gc_thresh3")
NEEDED = ("ip", "nsenter", "unshare", "mount")
CLOCK_SOURCE = Path(__file__).parent / "hosts" / "skewed_clock.c"


def why_not() -> str:
    """Returns what is missing for hosts here, "" for nothing."""
    if os.geteuid() != 0:
        return "network namespaces are made by root"
    if missing := [name for name in NEEDED if shutil.which(name) is None]:
        return f"{', '.join(missing)} not found: apt-get install iproute2 util-linux"
    tried = subprocess.run(
        ["unshare", "--net", "--uts", "--mount", "true"], capture_output=True, text=True, check=False
    )
    return f"no namespaces here: {tried.stderr.strip()}" if tried.returncode else ""


class SimulatedHosts:
    """N hosts n1, n2, ... with addresses 10.77.x.y; everything is gone after the `with`."""

    def __init__(self, count: int, folder: Path) -> None:
        self.names = [f"n{number}" for number in range(1, count + 1)]
        self.folder = folder
        self.prefix = f"u{os.getpid()}"  # of this process's own: tests run beside each other
        self.address = {name: f"10.77.{place // 250}.{place % 250 + 1}" for place, name in enumerate(self.names)}
        self.faults: dict[str, list[str]] = {name: [] for name in self.names}
        self.made: list[str] = []

    def __enter__(self) -> SimulatedHosts:
        self.neighbours = MOST_NEIGHBOURS.read_text()
        if len(self.names) ** 2 > int(self.neighbours):
            MOST_NEIGHBOURS.write_text(str(2 * len(self.names) ** 2))
        try:
            self._make(f"{self.prefix}hub")
            self.on_hub("link", "add", "br0", "type", "bridge")
            self.on_hub("link", "set", "br0", "up")
            for name in self.names:
                space = self.space(name)
                self._make(space)
                ip("-n", f"{self.prefix}hub", "link", "add", self.port(name), "type", "veth", "peer", "name", "eth0",
                   "netns", space)  # fmt: skip
                self.on_hub("link", "set", self.port(name), "master", "br0", "up")
                self.on(name, "addr", "add", f"{self.address[name]}/16", "dev", "eth0")
                self.on(name, "link", "set", "eth0", "up")
                self.on(name, "link", "set", "lo", "up")
        except BaseException:
            self.__exit__()
            raise
        lines = [f"{address} {name}" for name, address in self.address.items()]
        (self.folder / "etc-hosts").write_text("\n".join(["127.0.0.1 localhost", *lines, ""]))
        for name in self.names:
            self._write_entry(name)
        (self.folder / "hosts").write_text("".join(f"{name} {self.address[name]}\n" for name in self.names))
        return self

    def __exit__(self, *ended: object) -> None:
        for space in reversed(self.made):
            subprocess.run(["ip", "netns", "del", space], check=False, capture_output=True)
        if MOST_NEIGHBOURS.read_text() != self.neighbours:
            MOST_NEIGHBOURS.write_text(self.neighbours)

    @property
    def file(self) -> Path:
        """The file for --hosts."""
        return self.folder / "hosts"

    @property
    def remote(self) -> str:
        """What --remote says."""
        space = f"/run/netns/{self.prefix}{{host}}"
        return f"nsenter --net={space} unshare --uts --mount sh {shlex.quote(str(self.folder))}/{{host}}.entry"

    def entered(self, name: str, *words: str) -> list[str]:
        """Returns the words that run a program on a host."""
        return [*shlex.split(self.remote.replace("{host}", name)), *words]

    def space(self, name: str) -> str:
        return f"{self.prefix}{name}"

    def port(self, name: str) -> str:
        """The name of the bridge's port to a host."""
        return f"e{self.names.index(name)}"

    def on(self, name: str, *words: str) -> None:
        """Runs `ip` on a host."""
        ip("-n", self.space(name), *words)

    def on_hub(self, *words: str) -> None:
        """Runs `ip` where the bridge is."""
        ip("-n", f"{self.prefix}hub", *words)

    @contextmanager
    def entering(self, name: str, *lines: str) -> Iterator[None]:
        """Whoever enters this host runs these lines of shell before: mounts, variables."""
        self.faults[name] += lines
        self._write_entry(name)
        try:
            yield
        finally:
            del self.faults[name][-len(lines) :]
            self._write_entry(name)

    @contextmanager
    def blackholed(self, name: str, other: str) -> Iterator[None]:
        """One host drops what it has for the other, and so answers to it too."""
        self.on(name, "route", "add", "blackhole", f"{self.address[other]}/32")
        try:
            yield
        finally:
            self.on(name, "route", "del", "blackhole", f"{self.address[other]}/32")

    @contextmanager
    def unplugged(self, name: str) -> Iterator[None]:
        """The switch's port to a host is down; the host's own interface does not know."""
        self.on_hub("link", "set", self.port(name), "nomaster")
        try:
            yield
        finally:
            self.on_hub("link", "set", self.port(name), "master", "br0")

    @contextmanager
    def mtu(self, name: str, size: int) -> Iterator[None]:
        """A host's interface has another MTU; the switch carries what it sends."""
        self.on_hub("link", "set", self.port(name), "mtu", str(size))
        self.on(name, "link", "set", "eth0", "mtu", str(size))
        try:
            yield
        finally:
            self.on(name, "link", "set", "eth0", "mtu", "1500")
            self.on_hub("link", "set", self.port(name), "mtu", "1500")

    def skewed(self, name: str, seconds: int) -> list[str]:
        """Returns the lines of shell by which a host's programs read a clock that is so far ahead."""
        library = self.folder / "skewed_clock.so"
        if not library.exists():
            subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-o", str(library), str(CLOCK_SOURCE)], check=True)
        return [f"export LD_PRELOAD={library} SKEWED_BY_S={seconds}"]

    def _make(self, space: str) -> None:
        ip("netns", "add", space)
        self.made.append(space)

    def _write_entry(self, name: str) -> None:
        lines = [
            f"hostname {name}",
            f"mount --bind {shlex.quote(str(self.folder / 'etc-hosts'))} /etc/hosts",
            *self.faults[name],
            'exec "$@"',
        ]
        (self.folder / f"{name}.entry").write_text("\n".join(lines) + "\n")


def ip(*words: str) -> None:
    """Runs iproute2. Raises RuntimeError with its words."""
    done = subprocess.run(["ip", *words], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"ip {' '.join(words)}: {done.stderr.strip()}")
