"""Who is convicted by which pairs failed, on networks whose faults are known."""

from __future__ import annotations

import random
from itertools import permutations

import pytest

from diagnostics.hosts.conviction import Way, convict, without_contact
from diagnostics.hosts.rounds import all_rounds, batches, ring_rounds

Edges = dict[tuple[int, int], bool]


def network(hosts: int, cut: set[int], links: set[frozenset[int]]) -> Edges:
    return {way: not cut & {*way} and frozenset(way) not in links for way in permutations(range(hosts), 2)}


def test_a_healthy_network_convicts_nobody() -> None:
    for hosts in range(2, 20):
        found = convict(range(hosts), network(hosts, set(), set()))
        assert (found.hosts, found.links, found.groups, found.undecided) == ((), (), (), "")


@pytest.mark.parametrize("seed", range(200))
def test_cut_hosts_and_links_are_named_exactly(seed: int) -> None:
    drawn = random.Random(seed)
    hosts = drawn.randint(8, 70)
    cut = {*drawn.sample(range(hosts), drawn.randint(0, 3))}
    well = [host for host in range(hosts) if host not in cut]
    links = {frozenset(drawn.sample(well, 2)) for _ in range(drawn.randint(0, 2))}
    found = convict(range(hosts), network(hosts, cut, links))
    assert {one.host for one in found.hosts} == cut
    assert all(one.way is Way.BOTH for one in found.hosts)
    assert {frozenset(one.ends) for one in found.links} == links
    assert not found.groups
    assert not found.undecided


def test_two_rounds_of_pairs_convict_one_bad_host_among_a_thousand() -> None:
    rounds = all_rounds(1024)[:2]
    for bad in (0, 1, 511, 1023):
        tried = {way: bad not in way for pair in (pair for one in rounds for pair in one) for way in (pair, pair[::-1])}
        assert without_contact(range(1024), tried, 2) == {bad}
        assert [one.host for one in convict(range(1024), tried).hosts] == [bad]


def test_two_hosts_are_undecidable_and_so_are_three_that_all_fail() -> None:
    two = convict(range(2), network(2, {1}, set()))
    assert (two.hosts, two.links) == ((), ())
    assert "a third one would tell" in two.undecided
    three = convict(range(3), network(3, {0, 1, 2}, set()))
    assert three.undecided == "no two of the hosts reach each other"


def test_a_firewall_for_incoming_connections_is_told_from_a_dead_host() -> None:
    tried = {way: way[1] != 3 for way in permutations(range(6), 2)}
    (bad,) = convict(range(6), tried).hosts
    assert (bad.host, bad.way, len(bad.tried_with)) == (3, Way.INCOMING, 5)
    (bad,) = convict(range(6), {way: way[0] != 3 for way in permutations(range(6), 2)}).hosts
    assert bad.way is Way.OUTGOING


def test_a_host_that_fails_with_most_of_the_others_explains_more_than_as_many_links() -> None:
    lost = {frozenset((2, other)) for other in (0, 1, 3, 4)}
    (bad,) = convict(range(7), network(7, set(), lost)).hosts
    assert (bad.host, bad.way, bad.failed_with) == (2, Way.PARTLY, (0, 1, 3, 4))
    few = convict(range(7), network(7, set(), {frozenset((2, 0)), frozenset((2, 1))}))
    assert few.hosts == ()
    assert [one.ends for one in few.links] == [(0, 2), (1, 2)]


def test_failures_all_over_the_network_convict_no_links() -> None:
    drawn = random.Random(5)
    tried = {way: drawn.random() > 0.3 for way in permutations(range(20), 2)}
    found = convict(range(20), tried)
    assert found.links == ()
    assert "no host explains them" in found.undecided


def test_two_halves_of_a_network_are_groups_and_nobodys_fault() -> None:
    tried = {way: (way[0] < 4) == (way[1] < 4) for way in permutations(range(8), 2)}
    found = convict(range(8), tried)
    assert found.groups == ((0, 1, 2, 3), (4, 5, 6, 7))
    assert (found.hosts, found.links) == ((), ())


@pytest.mark.parametrize("hosts", [*range(2, 34), 63, 64])
def test_rounds_hold_each_pair_once_and_each_host_once_a_round(hosts: int) -> None:
    rounds = all_rounds(hosts)
    pairs = [pair for one in rounds for pair in one]
    assert len(pairs) == len({*pairs}) == hosts * (hosts - 1) // 2
    assert len(rounds) == hosts - 1 + hosts % 2
    ring = ring_rounds(hosts)
    assert len(ring) == (1 if hosts == 2 else 2 + hosts % 2)
    assert len({pair for one in ring for pair in one}) == (hosts if hosts > 2 else 1)
    for one in rounds + ring:
        busy = [host for pair in one for host in pair]
        assert len(busy) == len({*busy})
    assert [pair for one in batches(rounds, 2, 16) for pair in one] == pairs
