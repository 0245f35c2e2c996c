"""Asks many hosts at once, from one thread: nobody is waited for longer than the deadline."""

from __future__ import annotations

import selectors
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from diagnostics.hosts.host_line import HostLine, request


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What one host said to one question: its answer, or why there is none; the times are this machine's."""

    answer: Mapping[str, Any] | None = None
    problem: str = ""
    sent_s: float = 0.0
    received_s: float = 0.0


class Conversation:
    """The lines to all hosts, by name."""

    def __init__(self, lines: Sequence[HostLine]) -> None:
        self.lines = {line.host.name: line for line in lines}
        self._number = 0

    def ask(self, questions: Mapping[str, tuple[str, dict[str, Any]]], within_s: float) -> dict[str, Reply]:
        """Returns each host's reply to its (question, arguments), all within the time."""
        self._number += 1
        sent_s = time.time()
        for name, (question, given) in questions.items():
            self.lines[name].put(request(self._number, question, given))
        replies: dict[str, Reply] = {}

        def heard(line: HostLine, message: Any) -> None:
            if isinstance(message, Mapping) and message.get("id") == self._number and line.host.name in questions:
                answer = message.get("answer")
                replies[line.host.name] = Reply(
                    answer=answer if isinstance(answer, Mapping) else None,
                    problem=str(message.get("error", "")) if not isinstance(answer, Mapping) else "",
                    sent_s=sent_s,
                    received_s=time.time(),
                )

        wanted = [self.lines[name] for name in questions]
        self.listen(wanted, heard, lambda: all(line.ended or line.host.name in replies for line in wanted), within_s)
        for line in wanted:
            if line.host.name not in replies:
                problem = line.ended or f"no answer within {within_s:.0f} s{line.last_words()}"
                replies[line.host.name] = Reply(problem=problem, sent_s=sent_s)
        return replies

    def listen(
        self,
        lines: Sequence[HostLine],
        heard: Callable[[HostLine, Any], None],
        done: Callable[[], bool],
        within_s: float,
    ) -> None:
        """Sends and reads until `done` or until the time is over."""
        until = time.monotonic() + within_s
        with selectors.DefaultSelector() as selector:
            for line in lines:
                _watch(selector, line)
            while not done() and (left := until - time.monotonic()) > 0:
                for key, events in selector.select(left):
                    line = key.data
                    if events & selectors.EVENT_WRITE:
                        line.flush()
                    for message in line.take(key.fd) if events & selectors.EVENT_READ else []:
                        heard(line, message)
                    _watch(selector, line)

    def by_hand(self, name: str) -> list[str]:
        """Returns the words that start a shell on a host, [] where a launcher has started the program there."""
        line = self.lines.get(name)
        return [*line.words] if line is not None else []

    def close(self) -> None:
        """Says goodbye and ends everything that was started."""
        for line in self.lines.values():
            if not line.ended:
                line.put(b'{"op": "bye"}\n')
                line.flush()
        for line in self.lines.values():
            line.close()


def _watch(selector: selectors.BaseSelector, line: HostLine) -> None:
    """Watches what this line waits for now: a pipe that has ended would wake the loop for ever."""
    known = selector.get_map()
    for descriptor, events in line.wanted_events().items():
        if descriptor in known and not events:
            selector.unregister(descriptor)
        elif descriptor in known and known[descriptor].events != events:
            selector.modify(descriptor, events, line)
        elif descriptor not in known and events:
            selector.register(descriptor, events, line)
