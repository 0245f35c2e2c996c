"""Asks the hosts each question once, when the first check wants the answer; every answer has its deadline."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from statistics import median
from typing import Any

from diagnostics.hosts import answers
from diagnostics.hosts.answers import AboutHost, Contact, FolderPrints, GlooRound, Speed
from diagnostics.hosts.conversation import Conversation, Reply
from diagnostics.hosts.conviction import Conviction, convict, without_contact
from diagnostics.hosts.host_list import Host
from diagnostics.hosts.rounds import Pair, all_rounds, batches, ring_rounds

NAMES_S = 8.0  # two tries of a name server that is not there
PRINTS_S = 30.0  # reading the sources and samples of the data
CONNECT_S = 4.0  # a lost SYN is sent again after 1 s and after 3 s
LINE_S = 10.0  # beside a question's own time: the way there and back, on a busy host
GLOO_S = 10.0  # for each step of torch's own round
IMPORT_S = 60.0  # `import torch` on a cold network disk
SPEED_S = 0.25  # of sending in each direction
CLOCK_ROUNDS = 5
FIRST_ROUNDS, NEXT_ROUNDS = 2, 16  # tried at the same time
ENOUGH = 5  # failures with others that are well, after which no more are tried
ALL_PAIRS_UP_TO = 8  # hosts whose every pair is measured; of more, the edges of a ring
MOST_LOOKED_AT_AGAIN = 12  # slow pairs, each measured alone


@dataclass(frozen=True, slots=True, kw_only=True)
class SurveySettings:
    """What the user wants to know of the hosts."""

    python: str
    folder: str
    data: tuple[str, ...] = ()
    slower: float = 3.0  # than the middle pair is worth a second look
    note: str = ""  # how the hosts were found, for the page


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """Who reached whom, and what that proves; host numbers are places in `Survey.hosts`."""

    contacts: Mapping[tuple[int, int], Contact]
    conviction: Conviction
    rounds: int  # in which the pairs were tried
    batches: int  # of rounds at the same time; each may cost a deadline where somebody is cut off


@dataclass(frozen=True, slots=True, kw_only=True)
class Speeds:
    """Bandwidth and latency of pairs; `again` are those that were slow and were measured once more, alone."""

    pairs: Mapping[Pair, Speed]
    again: Mapping[Pair, Speed] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockReading:
    """How far a host's clock is from the middle one, and how well that is known."""

    offset_s: float
    uncertainty_s: float


class Survey:
    """The hosts and what they answered."""

    def __init__(self, hosts: Sequence[Host], conversation: Conversation, settings: SurveySettings) -> None:
        self.hosts = tuple(hosts)
        self.conversation = conversation
        self.settings = settings

    def known(self, answer: str) -> Any:
        """Returns an answer that some check has asked for, {} for one that none has: a page asks nothing."""
        return self.__dict__.get(answer, {})

    def close(self) -> None:
        """Ends the programs on all hosts."""
        self.conversation.close()

    @cached_property
    def about(self) -> dict[int, AboutHost]:
        """What each host that answers says of itself, by its place."""
        given = {"names": [host.plain_name for host in self.hosts], "deadline_s": NAMES_S}
        replies = self._ask(dict.fromkeys(self._alive(), ("about", given)), NAMES_S + LINE_S)
        return {place: answers.host_facts(reply.answer) for place, reply in replies.items() if reply.answer is not None}

    @cached_property
    def absent(self) -> dict[int, str]:
        """Why there is no answer from a host, for each that gives none."""
        present = self.about
        return {place: self._why_not(host) for place, host in enumerate(self.hosts) if place not in present}

    def _why_not(self, host: Host) -> str:
        line = self.conversation.lines.get(host.name)
        return line.ended or "it did not say anything of itself" if line is not None else "it never came"

    @cached_property
    def clocks(self) -> dict[int, ClockReading]:
        """Each clock against the middle one of all."""
        best: dict[int, tuple[float, float]] = {}
        for _ in range(CLOCK_ROUNDS):
            for place, reply in self._ask(dict.fromkeys(self.about, ("clock", {})), LINE_S).items():
                now_s = answers.now_s(reply.answer) if reply.answer is not None else None
                if now_s is not None:
                    half_s = (reply.received_s - reply.sent_s) / 2
                    read = (half_s, now_s - reply.sent_s - half_s)
                    best[place] = min(best.get(place, read), read)
        middle = median(offset for _, offset in best.values()) if best else 0.0
        return {
            place: ClockReading(offset_s=offset - middle, uncertainty_s=half) for place, (half, offset) in best.items()
        }

    @cached_property
    def prints(self) -> dict[int, FolderPrints]:
        """What tells each host's copy of code and data from the others'."""
        given = {"folder": self.settings.folder, "data": [*self.settings.data], "deadline_s": PRINTS_S}
        replies = self._ask(dict.fromkeys(self.about, ("prints", given)), PRINTS_S + LINE_S)
        return {p: answers.folder_prints(reply.answer) for p, reply in replies.items() if reply.answer is not None}

    @cached_property
    def addresses(self) -> dict[int, str]:
        """Where peers find each host: the interface that the job is told to use, the file's word, its name."""
        return {place: address_of(self.hosts[place], facts, self.about) for place, facts in self.about.items()}

    @cached_property
    def ports(self) -> dict[int, int]:
        """The port at which each host listens while this command runs."""
        replies = self._ask(dict.fromkeys(self.about, ("listen", {})), LINE_S)
        return {place: port for place, reply in replies.items() if (port := answers.port(reply.answer or {}))}

    @cached_property
    def reached(self) -> Reached:
        """Who reached whom: all pairs, but for hosts that have failed with enough others."""
        places = sorted(place for place in self.ports if self.addresses.get(place))
        rounds = all_rounds(len(places)) if len(places) > 1 else []
        known: dict[tuple[int, int], Contact] = {}
        made = 0
        for batch in batches(rounds, FIRST_ROUNDS, NEXT_ROUNDS) if rounds else []:
            tried = {way: one.good for way, one in known.items()}
            cut = without_contact(places, tried, min(ENOUGH, len(places) - 1))
            pairs = [(places[one], places[other]) for one, other in batch]
            known |= self._try([pair for pair in pairs if not cut & {*pair}])
            made += 1
        # A second look at what failed, with nothing else going on: a busy moment convicts nobody.
        again = {(min(way), max(way)) for way, one in known.items() if not one.good}
        cut = without_contact(places, {way: one.good for way, one in known.items()}, min(ENOUGH, len(places) - 1))
        known |= self._try([pair for pair in sorted(again) if not cut & {*pair}])
        conviction = convict(places, {way: one.good for way, one in known.items()})
        return Reached(contacts=known, conviction=conviction, rounds=len(rounds), batches=made)

    def _try(self, pairs: Sequence[Pair]) -> dict[tuple[int, int], Contact]:
        """Has both ends of each pair connect to the other, all at the same time."""
        wanted: dict[int, list[int]] = {}
        for one, other in pairs:
            wanted.setdefault(one, []).append(other)
            wanted.setdefault(other, []).append(one)
        questions = {
            place: ("reach", {"peers": [self._peer(other) for other in others], "deadline_s": CONNECT_S})
            for place, others in wanted.items()
        }
        found: dict[tuple[int, int], Contact] = {}
        for place, reply in self._ask(questions, CONNECT_S + LINE_S).items():
            rows = answers.contacts(reply.answer) if reply.answer is not None else {}
            for other in wanted[place]:
                name = self.hosts[other].name
                if name in rows:
                    found[place, other] = rows[name]
        return found

    @cached_property
    def speeds(self) -> Speeds:
        """Bandwidth and latency of pairs that reach each other; one pair a host at a time."""
        bad = {one.host for one in self.reached.conviction.hosts}
        places = [place for place in sorted(self.ports) if place not in bad]
        many = len(places) > ALL_PAIRS_UP_TO
        rounds = (ring_rounds if many else all_rounds)(len(places)) if len(places) > 1 else []
        failed = {frozenset(link.ends) for link in self.reached.conviction.links}
        found: dict[Pair, Speed] = {}
        for one_round in rounds:
            pairs = [(places[one], places[other]) for one, other in one_round]
            found |= self._measure([pair for pair in pairs if frozenset(pair) not in failed])
        again: dict[Pair, Speed] = {}
        for pair in self._slow(found)[:MOST_LOOKED_AT_AGAIN]:
            again |= self._measure([pair])
        return Speeds(pairs=found, again=again)

    def _measure(self, pairs: Sequence[Pair]) -> dict[Pair, Speed]:
        questions = {
            one: ("speed", {"peer": self._peer(other), "seconds": SPEED_S, "deadline_s": LINE_S})
            for one, other in pairs
        }
        replies = self._ask(questions, 2 * LINE_S)
        return {
            (one, other): answers.speed(answer) for one, other in pairs if (answer := replies[one].answer) is not None
        }

    def _slow(self, found: Mapping[Pair, Speed]) -> list[Pair]:
        """Returns the pairs that are far from the middle one, the slowest first."""
        bandwidths = {pair: value for pair, one in found.items() if (value := one.slower_bytes_s) is not None}
        delays = {pair: value for pair, one in found.items() if (value := one.rtt_s) is not None}
        if len(bandwidths) < 3:
            return []
        usual, usual_s = median(bandwidths.values()), median(delays.values())
        ratios = {pair: max(usual / max(value, 1.0), delays[pair] / usual_s) for pair, value in bandwidths.items()}
        return sorted((pair for pair in ratios if ratios[pair] > self.settings.slower), key=lambda pair: -ratios[pair])

    @cached_property
    def gloo(self) -> dict[int, GlooRound]:
        """One all_reduce of torch's gloo over the hosts, as each of them saw it."""
        places = sorted(self.about)
        first = places[0]
        store = self._ask({first: ("free_port", {})}, LINE_S)[first]
        deadline_s = IMPORT_S + 3 * GLOO_S
        asked = {
            "python": self.settings.python, "deadline_s": deadline_s, "hosts": len(places), "seconds": GLOO_S,
            "address": self.addresses[first], "port": answers.port(store.answer or {}),
        }  # fmt: skip
        questions = {place: ("gloo", {**asked, "number": number}) for number, place in enumerate(places)}
        replies = self._ask(questions, deadline_s + LINE_S)
        return {
            place: answers.gloo_round(reply.answer)
            if reply.answer is not None
            else GlooRound(phase="process", error=reply.problem, torch="")
            for place, reply in replies.items()
        }

    def _alive(self) -> list[int]:
        lines = self.conversation.lines
        return [p for p, host in enumerate(self.hosts) if host.name in lines and not lines[host.name].ended]

    def _peer(self, place: int) -> dict[str, Any]:
        return {"name": self.hosts[place].name, "address": self.addresses[place], "port": self.ports[place]}

    def _ask(self, questions: Mapping[int, tuple[str, dict[str, Any]]], within_s: float) -> dict[int, Reply]:
        named = {self.hosts[place].name: question for place, question in questions.items()}
        replies = self.conversation.ask(named, within_s)
        return {place: replies[self.hosts[place].name] for place in questions}


def address_of(host: Host, facts: AboutHost, about: Mapping[int, AboutHost]) -> str:
    """Returns where peers find a host, "" where nothing says so; an address of this host's own is no such place."""
    card = facts.card_named(facts.variables.get("GLOO_SOCKET_IFNAME", "").split(",")[0])
    known = [found for other in about.values() if (found := other.names.get(host.plain_name)) is not None]
    words: Iterator[str] = chain(
        card.addresses[:1] if card is not None else (),
        [host.address],
        (one for found in known for one in found.addresses if facts.card_of(one) is not None),
        [facts.reached_at],
        facts.own.addresses,
        (one for card in facts.cards if card.up and not card.loopback for one in card.addresses),
    )
    return next((one for one in words if one and not answers.is_loopback(one)), "")
