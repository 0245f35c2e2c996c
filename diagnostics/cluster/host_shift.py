"""One host's record as part of a job over several: process numbers that no other host has, times by one clock. Pure.

Each host numbers its processes by itself, in containers often alike, and counts seconds from when its own doctor began.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any

from diagnostics.core import untrusted_json
from diagnostics.core.frame import Frame
from diagnostics.record.agent_data import LifecycleEvent
from diagnostics.record.record import RunRecord
from diagnostics.record.supervisor_facts import SupervisorFacts

# A process's main thread has the process's number.
NUMBERS = frozenset({"pid", "ppid", "parent_pid", "forked_from", "thread", "native"})
WALL_TIMES = frozenset({"started_ns", "created_ns", "began_ns", "ended_ns"})
_OF_NAME = re.compile(r"^((?:[a-z]+-)*)(\d+)(?=[-.])")
_OF_EVENT = re.compile(r"\b(pid=)(\d+)")
_OF_TEXT = re.compile(r"(\bpid: |\b(?:process|Process) )(\d+)")  # as launchers and the kernel name a process


@dataclass(frozen=True, slots=True, kw_only=True)
class HostShift:
    """What is different between a host and the first one. `numbers` are those of processes that others have too."""

    numbers: Mapping[int, int] = field(default_factory=dict)
    later_s: float = 0.0  # from when the first host's doctor began to when this one did, by one clock
    ahead_ns: int = 0  # of its clock

    def record(self, one: RunRecord) -> RunRecord:
        """Returns a host's record, in the numbers and by the clock of all."""
        return replace(
            one,
            agents=tuple(self._value(agent, name=self._name(agent.name)) for agent in one.agents),
            faults={self._name(name): value for name, value in one.faults.items()},
            job=self.facts(one.job) if one.job is not None else None,
            outputs={self._name(name): self._text(text) for name, text in one.outputs.items()},
            captures={self._name(name): self._capture(name, text) for name, text in one.captures.items()},
            flights=tuple(map(self._name, one.flights)),
            flight_entries={self._name(f"{name}."): self._value(value) for name, value in one.flight_entries.items()},
            frames={self._name(f"{name}."): self._value(value) for name, value in one.frames.items()},
            prints={self._name(f"{name}."): self._value(value) for name, value in one.prints.items()},
        )

    def facts(self, job: SupervisorFacts) -> SupervisorFacts:
        """Returns what a host's doctor saw; times count from when the first host's doctor began."""
        moved: SupervisorFacts = self._value(job)
        return replace(
            moved,
            started_ns=moved.started_ns - round(self.later_s * 1e9),
            ended_s=self._time(job.ended_s),
            processes=tuple(
                replace(
                    one,
                    first_seen_s=one.first_seen_s + self.later_s,
                    end=replace(one.end, at_s=self._time(one.end.at_s)) if one.end is not None else None,
                )
                for one in moved.processes
            ),
            sent=tuple(replace(one, at_s=one.at_s + self.later_s) for one in moved.sent),
            stalls=tuple(
                replace(
                    one,
                    began_s=one.began_s + self.later_s,
                    seen_s=one.seen_s + self.later_s,
                    over_s=self._time(one.over_s),
                )
                for one in job.stalls
            ),
            proved=tuple(
                replace(one, began_s=one.began_s + self.later_s, proved_s=one.proved_s + self.later_s)
                for one in job.proved
            ),
            kernel_lines=tuple(map(self._text, job.kernel_lines)),
        )

    def _time(self, at_s: float | None) -> float | None:
        return at_s + self.later_s if at_s is not None else None

    def _number(self, number: int) -> int:
        return self.numbers.get(number, number)

    def _name(self, name: str) -> str:
        """Returns the name of a file; of a process by "PID-START" where a dot is put behind it."""
        moved = _OF_NAME.sub(lambda found: f"{found[1]}{self._number(int(found[2]))}", name)
        return moved.removesuffix(".")

    def _text(self, text: str) -> str:
        return self._replaced(_OF_TEXT, text) if self.numbers else text

    def _replaced(self, pattern: re.Pattern[str], text: str) -> str:
        return pattern.sub(lambda found: f"{found[1]}{self._number(int(found[2]))}", text)

    def _value(self, value: Any, **changes: Any) -> Any:
        """Returns plain values with the numbers and wall clocks of all."""
        if isinstance(value, tuple):
            return tuple(map(self._value, value))
        if isinstance(value, Frame) or not is_dataclass(value) or not (self.numbers or self.ahead_ns):
            return replace(value, **changes) if changes and is_dataclass(value) else value  # type: ignore[type-var]
        for one in fields(value):
            old = getattr(value, one.name)
            if one.name in NUMBERS and isinstance(old, int):
                changes[one.name] = self._number(old)
            elif one.name in WALL_TIMES and isinstance(old, int) and old:
                changes[one.name] = old - self.ahead_ns
            elif isinstance(old, tuple) or is_dataclass(old):
                changes.setdefault(one.name, self._value(old))
        if isinstance(value, LifecycleEvent):
            said, bar, rest = value.text.partition(" | ")
            changes["text"] = self._replaced(_OF_EVENT, said) + bar + rest
        return replace(value, **changes)  # type: ignore[type-var]

    def _capture(self, name: str, text: str) -> str:
        if name.endswith(".jsonl"):
            return "".join(f"{self._json(line)}\n" for line in text.splitlines())
        return self._json(text) if name.endswith(".json") and (self.numbers or self.ahead_ns) else text

    def _json(self, text: str) -> str:
        try:
            return json.dumps(self._plain(untrusted_json.loads(text)))
        except ValueError:
            return text

    def _plain(self, value: Any) -> Any:
        """Returns a capture's values: it names processes by "pid", "pids" or "PID-START"."""
        if not isinstance(value, dict):
            return value
        moved: dict[str, Any] = {self._name(f"{key}."): each for key, each in value.items()}
        for key, each in moved.items():
            if key == "at_s" and isinstance(each, (int, float)):
                moved[key] = each + self.later_s
            elif key == "at_ns" and isinstance(each, int):
                moved[key] = each - self.ahead_ns
            elif key == "pid" and isinstance(each, int):
                moved[key] = self._number(each)
            elif key == "pids" and isinstance(each, list):
                moved[key] = [self._number(one) if isinstance(one, int) else one for one in each]
            elif key == "groups" and isinstance(each, list):
                moved[key] = [self._plain(one) for one in each]
            elif key == "processes":
                moved[key] = self._plain(each)
        return moved
