"""The file of `preflight --hosts`: one `name [address]` a line, `#` begins a comment."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from diagnostics.core.errors import UsageError, from_os_error

FORM = "one `name [address]` a line; `#` begins a comment"
MOST_HOSTS = 4096
# What ssh takes for a destination; a name that began with `-` would be an option of it.
_NAME = re.compile(r"(?:[A-Za-z0-9._-]+@)?[A-Za-z0-9_][A-Za-z0-9._:-]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """One host of a job; `address` is where its peers reach it, "" where that has to be found out."""

    name: str
    address: str = ""

    @property
    def plain_name(self) -> str:
        """The name without the user that ssh logs in as."""
        return self.name.rpartition("@")[2]


def read_hosts(path: Path) -> tuple[Host, ...]:
    """Returns the hosts of a file. Raises UsageError in one sentence for what is no list of at least two."""
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"--hosts {path}: no text file", hint=FORM) from error
    except OSError as error:
        raise UsageError(from_os_error(error, action="cannot read --hosts", path=path).message, hint=FORM) from error
    hosts = tuple(
        _host(words, f"{path}:{number}")
        for number, line in enumerate(text.splitlines(), 1)
        if (words := line.partition("#")[0].split())
    )
    check(hosts, str(path))
    return hosts


def _host(words: list[str], place: str) -> Host:
    name, *rest = words
    if len(rest) > 1:
        raise UsageError(f"{place}: '{' '.join(words)}' is more than a name and an address", hint=FORM)
    if not _NAME.fullmatch(name):
        raise UsageError(f"{place}: '{name}' is no name of a host", hint=FORM)
    for address in rest:
        try:
            ipaddress.ip_address(address)
        except ValueError as error:
            raise UsageError(f"{place}: '{address}' is no IP address", hint=FORM) from error
    return Host(name=name, address=rest[0] if rest else "")


def check(hosts: tuple[Host, ...], source: str) -> None:
    """Raises UsageError where these are no hosts that can be compared."""
    if not hosts:
        raise UsageError(f"--hosts {source}: no host is named in it", hint=FORM)
    if len(hosts) == 1:
        raise UsageError(
            f"--hosts {source}: only one host, {hosts[0].name}; there is nothing to compare it with",
            hint="this machine alone is checked by: ups-doctor preflight",
        )
    if len(hosts) > MOST_HOSTS:
        raise UsageError(f"--hosts {source}: {len(hosts)} hosts; at most {MOST_HOSTS} are compared at a time")
    for what, values in (
        ("name", [host.name for host in hosts]),
        ("address", [host.address for host in hosts if host.address]),
    ):
        if twice := repeated(values):
            raise UsageError(f"--hosts {source}: the {what} {twice} stands there twice", hint="one line a host")


def repeated(values: Iterable[str]) -> str:
    """Returns the first value that comes a second time, "" for none."""
    seen: set[str] = set()
    for value in values:
        if value in seen:
            return value
        seen.add(value)
    return ""
