"""How far one rank had come in each group at one moment: calls from Python, C++ ones, sends and receives. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import cached_property

from diagnostics.agent.shared import layout, operations
from diagnostics.dynamic.collectives.collective_signature import NEW_GROUP, is_collective, is_counted
from diagnostics.dynamic.collectives.rank_state import OperationKind
from diagnostics.record.agent_data import AgentData, CollectiveCall, GroupProgress
from diagnostics.record.flight_recorder import FlightEntry
from diagnostics.record.stacks import AgentStacks

SENDS, RECEIVES = frozenset(operations.SENDS), frozenset(operations.RECEIVES)
UNEVEN = frozenset(operations.UNEVEN)


class CollectiveLog:
    """The counts of one rank; `local_s` is on its agent's clock."""

    def __init__(
        self,
        agent: AgentData | None,
        flight: tuple[FlightEntry, ...],
        frames: AgentStacks | None,
        local_s: float,
    ) -> None:
        self._agent, self._flight, self._frames, self._local_s = agent, flight, frames, local_s
        recorded = agent.collectives if agent is not None else ()
        until = len(recorded)
        while until and recorded[until - 1].entered_s > local_s:
            until -= 1
        self.calls = recorded[:until]  # oldest first
        self.whole = len(recorded) < layout.CALL_SLOTS  # nothing was pushed out of the ring
        self._groups = {one.group: one for one in agent.groups} if agent is not None else {}
        self.default = next(iter(self._groups), "0")

    @property
    def groups(self) -> tuple[GroupProgress, ...]:
        """The groups it used."""
        return tuple(self._groups.values())

    def ranks(self, group: str) -> tuple[int, ...]:
        """Returns the global ranks of a group, () where they are not known."""
        known = self._groups.get(group)
        return known.ranks if known is not None else ()

    @cached_property
    def reached(self) -> dict[str, int]:
        """How many collectives were begun in each group."""
        found: dict[str, int] = {}
        for call in reversed(self.calls):
            if call.group not in found and call.number >= 0 and is_collective(call.op) and call.op != NEW_GROUP:
                found[call.group] = call.number + 1
                if len(found) == len(self._groups):
                    break
        wall_ns = self._agent.started_ns + int(self._local_s * 1e9) if self._agent is not None else 0
        for entry in self._flight:
            if not entry.point_to_point and entry.created_ns <= wall_ns + 1_000_000:
                slot = self.slot(entry)
                found[entry.group] = max(found.get(entry.group, 0), slot + 1)
        number = self._frames.group_number if self._frames is not None else None
        world = self._groups.get(self._world)
        if number is not None and world is not None and not self._went_on and not self._in_uneven:
            found[world.group] = max(found.get(world.group, 0), number - world.uneven)
        return found

    @property
    def new_groups(self) -> int:
        """How many calls from Python it has begun in the default group, to which making a group belongs."""
        return max(self._ordinals, default=-1) + 1

    @cached_property
    def _world(self) -> str:
        """The name of the default group: the one that has the most ranks, the first of those."""
        sizes = [(len(one.ranks), one.group) for one in self._groups.values()]
        return max(sizes, key=lambda pair: pair[0])[1] if sizes else ""

    @property
    def _went_on(self) -> bool:
        """Whether calls were recorded after the moment: what was read at the end says nothing of it then."""
        return self._agent is not None and len(self.calls) < len(self._agent.collectives)

    @property
    def _in_uneven(self) -> bool:
        """Whether the last call is one that the group's counter has counted, and the agent has not yet."""
        return bool(self.calls) and self.calls[-1].op in UNEVEN and self.calls[-1].left_s is None

    @cached_property
    def _ordinals(self) -> dict[int, CollectiveCall]:
        """The default group's calls from Python by their place among all of them."""
        world = self._groups.get(self._world)
        if world is None or self._agent is None:
            return {}
        counted = [c for c in self._agent.collectives if c.group == self._world and is_counted(c.op, c.shape)]
        first = world.calls - len(counted)
        return {first + index: call for index, call in enumerate(counted) if call.entered_s <= self._local_s}

    def ordinal(self, call: CollectiveCall) -> int | None:
        """Returns the place of a call among the default group's calls from Python, None where it is not one."""
        return next((place for place, one in reversed(self._ordinals.items()) if one is call), None)

    def call(self, group: str, slot: int) -> CollectiveCall | None:
        """Returns the call from Python that took a slot of a group, None where it is not in the ring."""
        if group == NEW_GROUP:
            return self._ordinals.get(slot)
        return self._by_slot.get((group, slot))

    def calls_in(self, places: Collection[tuple[str, int]]) -> dict[tuple[str, int], CollectiveCall]:
        """Returns the calls from Python that took these slots of groups, as far as they are in the ring.

        For a few slots that were taken lately: the ring is read from its end, and no further than needed.
        """
        found = {place: call for place in places if place[0] == NEW_GROUP and (call := self.call(*place)) is not None}
        left = {place for place in places if place[0] != NEW_GROUP}
        for call in reversed(self.calls) if left else ():
            place = call.group, call.number
            if place in left and is_collective(call.op) and call.op != NEW_GROUP:
                found[place] = call
                left.discard(place)
                if not left:
                    break
        return found

    @cached_property
    def _by_slot(self) -> dict[tuple[str, int], CollectiveCall]:
        return {(c.group, c.number): c for c in self.calls if is_collective(c.op) and c.op != NEW_GROUP}

    def slot(self, entry: FlightEntry) -> int:
        """Returns the slot of what the flight recorder saw, as the agent counts."""
        known = self._groups.get(entry.group)
        return entry.counted - (known.uneven if known is not None and entry.native_counter else 0)

    def entry(self, group: str, slot: int | None) -> FlightEntry | None:
        """Returns what the flight recorder has about a slot of a group."""
        return self._entries.get((group, slot)) if slot is not None else None

    @cached_property
    def _entries(self) -> dict[tuple[str, int | None], FlightEntry]:
        return {(entry.group, self.slot(entry)): entry for entry in self._flight if not entry.point_to_point}

    @property
    def pending(self) -> list[FlightEntry]:
        """What the flight recorder says is not done, oldest first."""
        return [entry for entry in self._flight if entry.pending and not entry.point_to_point]

    @cached_property
    def exchanged(self) -> dict[tuple[str, OperationKind, int], int] | None:
        """How many sends and receives were begun with each peer; None where not all of them are known."""
        found: dict[tuple[str, OperationKind, int], int] = {}
        for call in self.calls:
            if call.op in operations.BATCHES or (call.op in RECEIVES and call.root is None):
                return None
            kind = OperationKind.SEND if call.op in SENDS else OperationKind.RECV if call.op in RECEIVES else None
            if kind is not None and call.root is not None:
                key = (call.group, kind, call.root)
                found[key] = found.get(key, 0) + 1
        return found if self.whole or not found else None

    def groups_of_others(self, blocked: Iterable[int], alive: frozenset[int] | None) -> frozenset[str]:
        """Returns the groups in which threads that are not blocked have made calls, as far as they still live."""
        away = set(blocked)
        made = {(call.thread, call.group) for call in self.calls}
        return frozenset(group for thread, group in made if thread not in away and (alive is None or thread in alive))
