"""Which hosts and links explain what failed between pairs of hosts. Pure.

A host that reaches nobody, while others reach each other, is the one; a link is only told where both of its ends are
well otherwise. Two hosts that do not reach each other prove nothing about either.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

Tried = Mapping[tuple[int, int], bool]  # (who connects, to whom): whether it went well


class Way(StrEnum):
    """How a host is cut off from those that reach each other."""

    BOTH = "both"
    INCOMING = "incoming"  # it reaches the others, and none of them reaches it
    OUTGOING = "outgoing"
    PARTLY = "partly"  # most of the others, not all


@dataclass(frozen=True, slots=True, kw_only=True)
class BadHost:
    """A host that explains every failure with it; of `tried_with` hosts that are well, `failed_with` had one."""

    host: int
    way: Way
    failed_with: tuple[int, ...]
    tried_with: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BadLink:
    """Two hosts that are well with the others and not with each other; `ways` are the directions that failed."""

    ends: tuple[int, int]
    ways: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Conviction:
    """What explains the failures. `groups` reach nobody outside themselves; `undecided` says why nobody is named."""

    hosts: tuple[BadHost, ...] = ()
    links: tuple[BadLink, ...] = ()
    groups: tuple[tuple[int, ...], ...] = ()
    undecided: str = ""


def convict(hosts: Iterable[int], tried: Tried) -> Conviction:
    """Returns the smallest explanation there is, and none where several are as good."""
    pairs = _pairs(tried)
    everybody = sorted({*hosts})
    if all(pairs.values()):
        return Conviction()
    circles = _circles(everybody, pairs)
    core = [circle for circle in circles if len(circle) > 1]
    if not core:
        few = "two hosts that do not reach each other prove nothing about either; a third one would tell"
        return Conviction(undecided=few if len(everybody) == 2 else "no two of the hosts reach each other")
    if len(core) > 1:
        lonely = [circle[0] for circle in circles if len(circle) == 1 and _failed(circle[0], everybody, pairs)]
        well = [host for circle in core for host in circle]
        cut = tuple(_bad(host, well, tried) for host in lonely)
        return Conviction(groups=tuple(tuple(circle) for circle in core), hosts=cut)
    alone = [circle[0] for circle in circles if len(circle) == 1 and _failed(circle[0], everybody, pairs)]
    bad = [_bad(host, core[0], tried) for host in alone]
    left, rest = list(core[0]), []
    while (worst := _worst(left, pairs)) is not None:
        left.remove(worst)
        rest.append(worst)
    bad += [_bad(host, left, tried) for host in rest]
    hosts_told = tuple(sorted(bad, key=lambda one: one.host))
    links = _links(left, pairs, tried)
    if len(links) > len(left):  # no cables that broke, each by itself: something that all of them share
        return Conviction(
            hosts=hosts_told, undecided=f"{len(links)} of {len(pairs)} pairs fail, and no host explains them"
        )
    return Conviction(hosts=hosts_told, links=links)


def without_contact(hosts: Iterable[int], tried: Tried, least: int) -> set[int]:
    """Returns those that failed with each of at least `least` others which reach somebody: no need to try more."""
    pairs = _pairs(tried)
    everybody = sorted({*hosts})
    well = {host for pair, good in pairs.items() if good for host in pair}
    return {host for host in everybody if host not in well and len(_failed(host, sorted(well), pairs)) >= max(least, 2)}


def _pairs(tried: Tried) -> dict[tuple[int, int], bool]:
    """Returns for each pair whether all directions that were tried went well."""
    found: dict[tuple[int, int], bool] = defaultdict(lambda: True)
    for (one, other), good in tried.items():
        found[min(one, other), max(one, other)] &= good
    return dict(found)


def _circles(hosts: list[int], pairs: Mapping[tuple[int, int], bool]) -> list[list[int]]:
    """Returns the hosts in groups within which each is reached over good pairs."""
    near = defaultdict(set)
    for (one, other), good in pairs.items():
        if good:
            near[one].add(other)
            near[other].add(one)
    found, seen = [], set[int]()
    for host in hosts:
        if host in seen:
            continue
        circle, waiting = {host}, [host]
        while waiting:
            new = near[waiting.pop()] - circle
            circle |= new
            waiting += new
        seen |= circle
        found.append(sorted(circle))
    return found


def _failed(host: int, others: Iterable[int], pairs: Mapping[tuple[int, int], bool]) -> list[int]:
    return [one for one in others if one != host and not pairs.get((min(host, one), max(host, one)), True)]


def _worst(left: list[int], pairs: Mapping[tuple[int, int], bool]) -> int | None:
    """Returns the host that fails with more than half of the rest, and more often than each of those; else None."""
    failed = {host: _failed(host, left, pairs) for host in left}
    for host in sorted(left, key=lambda one: -len(failed[one])):
        partners = [one for one in left if one != host and (min(host, one), max(host, one)) in pairs]
        if len(failed[host]) < 2 or 2 * len(failed[host]) <= len(partners):
            return None
        if all(len(failed[one]) < len(failed[host]) for one in failed[host]):
            return host
    return None


def _bad(host: int, well: Iterable[int], tried: Tried) -> BadHost:
    others = [one for one in well if (host, one) in tried or (one, host) in tried]
    out = [one for one in others if not tried.get((host, one), True)]
    into = [one for one in others if not tried.get((one, host), True)]
    failed = tuple(one for one in others if one in out or one in into)
    if len(out) == len(into) == len(others):
        way = Way.BOTH
    elif not out and len(into) == len(others):
        way = Way.INCOMING
    elif not into and len(out) == len(others):
        way = Way.OUTGOING
    else:
        way = Way.PARTLY
    return BadHost(host=host, way=way, failed_with=failed, tried_with=tuple(others))


def _links(well: list[int], pairs: Mapping[tuple[int, int], bool], tried: Tried) -> tuple[BadLink, ...]:
    return tuple(
        BadLink(ends=pair, ways=tuple(way for way in (pair, pair[::-1]) if not tried.get(way, True)))
        for pair, good in sorted(pairs.items())
        if not good and pair[0] in well and pair[1] in well
    )
