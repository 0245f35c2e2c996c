"""What hosts answered, from untrusted JSON to plain values: a host may be broken in any way."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedName:
    """What a host makes of a name."""

    addresses: tuple[str, ...] = ()
    error: str = ""
    seconds: float = 0.0

    @property
    def only_loopback(self) -> bool:
        """Whether the name leads to the asking host itself only."""
        return bool(self.addresses) and all(is_loopback(one) for one in self.addresses)


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """A network interface of a host."""

    name: str
    mtu: int
    up: bool
    loopback: bool
    addresses: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AboutHost:
    """What a host says of itself."""

    hostname: str
    own: ResolvedName
    names: Mapping[str, ResolvedName]
    cards: tuple[Card, ...]
    versions: Mapping[str, str]
    variables: Mapping[str, str]
    reached_at: str  # the address at which ssh reached it, "" without ssh

    def card_of(self, address: str) -> Card | None:
        """Returns the interface that has this address."""
        return next((card for card in self.cards if address in card.addresses), None)

    def card_named(self, name: str) -> Card | None:
        """Returns the interface of this name."""
        return next((card for card in self.cards if card.name == name), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Contact:
    """How it went for one host to connect to another."""

    error: str  # "" where all went well
    phase: str  # connect, hello, small, burst, done
    rtt_s: float | None = None
    from_address: str = ""
    seen_as: str = ""
    sent_again: int = 0
    sent: int = 0

    @property
    def good(self) -> bool:
        """Whether small messages and a burst passed in both directions."""
        return self.phase == "done" and not self.error


@dataclass(frozen=True, slots=True, kw_only=True)
class Speed:
    """Bandwidth and latency of one pair, as the one that connected saw them."""

    error: str
    rtt_s: float | None = None
    out_bytes_s: float | None = None
    in_bytes_s: float | None = None

    @property
    def slower_bytes_s(self) -> float | None:
        """The bandwidth of the slower direction."""
        both = [one for one in (self.out_bytes_s, self.in_bytes_s) if one is not None]
        return min(both) if len(both) == 2 else None


@dataclass(frozen=True, slots=True, kw_only=True)
class DataPrint:
    """What tells one copy of the data from another."""

    path: str
    missing: bool
    files: int
    size: int
    hash: str
    whole: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderPrints:
    """What tells one host's code and data from another's."""

    missing: bool
    total: str
    whole: bool
    commit: str
    dirty: bool
    files: Mapping[str, str] = field(default_factory=dict)
    data: tuple[DataPrint, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class GlooRound:
    """How torch's own connection over all hosts went on one of them."""

    phase: str
    error: str
    torch: str
    all_reduce_s: float | None = None


def is_loopback(address: str) -> bool:
    """Returns whether an address is the host's own."""
    try:
        return ipaddress.ip_address(address.partition("%")[0]).is_loopback
    except ValueError:
        return False


def host_facts(answer: Mapping[str, Any]) -> AboutHost:
    """Returns the answer to `about`."""
    return AboutHost(
        hostname=_text(answer, "hostname"),
        own=_resolved(_mapping(answer, "own")),
        names={str(name): _resolved(_as_mapping(row)) for name, row in _mapping(answer, "names").items()},
        cards=tuple(_card(_as_mapping(row)) for row in _list(answer, "interfaces")),
        versions={str(key): str(value) for key, value in _mapping(answer, "versions").items()},
        variables={str(key): str(value) for key, value in _mapping(answer, "variables").items()},
        reached_at=_text(answer, "reached_at"),
    )


def contact(row: Any) -> Contact:
    """Returns one row of the answer to `reach`."""
    given = _as_mapping(row)
    return Contact(
        error=_text(given, "error"),
        phase=_text(given, "phase"),
        rtt_s=_number(given, "rtt_s"),
        from_address=_text(given, "from"),
        seen_as=_text(given, "seen_as"),
        sent_again=int(_number(given, "again") or 0),
        sent=int(_number(given, "sent") or 0),
    )


def speed(answer: Mapping[str, Any]) -> Speed:
    """Returns the answer to `speed`."""
    return Speed(
        error=_text(answer, "error"),
        rtt_s=_number(answer, "rtt_s"),
        out_bytes_s=_number(answer, "out_bytes_s"),
        in_bytes_s=_number(answer, "in_bytes_s"),
    )


def folder_prints(answer: Mapping[str, Any]) -> FolderPrints:
    """Returns the answer to `prints`."""
    code = _mapping(answer, "code")
    return FolderPrints(
        missing=bool(code.get("missing", True)),
        total=_text(code, "total"),
        whole=bool(code.get("whole")),
        commit=_text(code, "commit"),
        dirty=bool(code.get("dirty")),
        files={str(name): str(value) for name, value in _mapping(code, "files").items()},
        data=tuple(_data(_as_mapping(row)) for row in _list(answer, "data")),
    )


def gloo_round(answer: Mapping[str, Any]) -> GlooRound:
    """Returns the answer to `gloo`."""
    return GlooRound(
        phase=_text(answer, "phase"),
        error=_text(answer, "error"),
        torch=_text(answer, "torch"),
        all_reduce_s=_number(answer, "all_reduce_s"),
    )


def port(answer: Mapping[str, Any]) -> int:
    """Returns a port, 0 for none."""
    return int(_number(answer, "port") or 0)


def now_s(answer: Mapping[str, Any]) -> float | None:
    """Returns the answer to `clock`."""
    return _number(answer, "now_s")


def contacts(answer: Mapping[str, Any]) -> dict[str, Contact]:
    """Returns the answer to `reach` by the peer's name."""
    return {_text(_as_mapping(row), "name"): contact(row) for row in _list(answer, "peers")}


def _resolved(row: Mapping[str, Any]) -> ResolvedName:
    addresses = tuple(str(one) for one in _list(row, "addresses"))
    return ResolvedName(addresses=addresses, error=_text(row, "error"), seconds=_number(row, "seconds") or 0.0)


def _card(row: Mapping[str, Any]) -> Card:
    return Card(
        name=_text(row, "name"),
        mtu=int(_number(row, "mtu") or 0),
        up=bool(row.get("up")),
        loopback=bool(row.get("loopback")),
        addresses=tuple(str(one) for one in _list(row, "addresses")),
    )


def _data(row: Mapping[str, Any]) -> DataPrint:
    return DataPrint(
        path=_text(row, "path"),
        missing=bool(row.get("missing")),
        files=int(_number(row, "files") or 0),
        size=int(_number(row, "bytes") or 0),
        hash=_text(row, "hash"),
        whole=bool(row.get("whole")),
    )


def _text(row: Mapping[str, Any], key: str) -> str:
    value = row.get(key)
    return value if isinstance(value, str) else ""


def _number(row: Mapping[str, Any], key: str) -> float | None:
    value = row.get(key)
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _mapping(row: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    return _as_mapping(row.get(key))


def _as_mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _list(row: Mapping[str, Any], key: str) -> list[Any]:
    value = row.get(key)
    return value if isinstance(value, list) else []
