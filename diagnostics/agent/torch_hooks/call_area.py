"""The collectives area: a ring of calls, and per group how many there were and a rolling hash of them.

A slot is published by its first word, written last; that a call was left is one word written later.
"""

from __future__ import annotations

import struct
import time
from itertools import count

from ..areas import Strings
from ..frames import CallPaths
from ..shared import layout
from ..shared.operations import ranks_text

_CALL = struct.Struct(layout.CALL)
_GROUP = struct.Struct(layout.GROUP)
_MASK = (1 << 64) - 1
_PRIME = 0x100000001B3  # of FNV-1a
_START = 0xCBF29CE484222325
MAX_KNOWN = 4096  # call paths that are remembered


def hash_of(text):
    """Returns FNV-1a of `text`, 64 bits: the same in every process, unlike hash()."""
    value = _START
    for byte in text.encode("utf-8", "replace"):
        value = (value ^ byte) * _PRIME & _MASK
    return value


class Group:
    """One process group: what its entry holds, and where that stands (`at` is None where the table is full)."""

    __slots__ = ("at", "calls", "checkpoints", "hash", "name", "numbered", "ranks", "uneven")

    def __init__(self, name, ranks, numbered=True):
        self.name, self.ranks = name, ranks  # id of the name, global ranks
        self.calls, self.hash = 0, _START
        self.uneven = 0  # what its counter has counted that not all its ranks make (send, recv), less what it left out
        self.numbered = numbered  # its own counter can be asked
        self.at = self.checkpoints = None


class CallArea:
    """The calls and groups of this process in `area`; `tick` gives the order over all areas."""

    def __init__(self, area, tick):
        self._area, self._tick = area, tick
        self.strings = Strings(area[layout.CALL_STRINGS_OFFSET :])
        self._words = area[: layout.CALL_STRINGS_OFFSET].cast("Q")
        self._paths = CallPaths(self.strings)
        self._path_ids = {}  # (id of code, instruction, ...) -> id of the call path
        self._held = {}  # id of code -> code: it must live as long as its id is part of a key
        self._slots, self._groups, self._unlisted = count(), count(), count(1)
        self._latest = -1

    def group(self, name, ranks):
        """Returns a new Group, with an entry of its own while there is room."""
        group = Group(self.strings.intern(name.encode("utf-8", "replace")), ranks)
        slot = next(self._groups)
        if slot >= layout.GROUP_SLOTS:
            struct.pack_into("<I", self._area, 0, next(self._unlisted))
            return group
        group.at = layout.GROUPS_OFFSET + slot * layout.GROUP_BYTES
        group.checkpoints = layout.CHECKPOINTS_OFFSET // 8 + slot * layout.CHECKPOINT_SLOTS
        ranks_id = self.strings.intern(ranks_text(ranks).encode())
        _GROUP.pack_into(self._area, group.at, 1, group.name, ranks_id, 0, 0, group.hash)
        return group

    def enter(self, words, group, number, root, frame, thread, flags, over=None):
        """Writes that a call began; `words` are the ids of op, shape and dtype. Returns what leave() needs.

        `over` is what leave() got for a call that is no longer of interest: its slot is taken if it is the latest one.
        """
        key, outer = [], frame
        while outer is not None:
            key.append(id(outer.f_code))
            key.append(outer.f_lasti)
            outer = outer.f_back
        key = tuple(key)
        path = self._path_ids.get(key) or self._new_path(key, frame)
        if over is not None and over[1] == self._latest + 1:
            index = self._latest
            self._words[over[0]] = 0
        else:
            index = self._latest = next(self._slots)
        at = layout.CALLS_OFFSET + index % layout.CALL_SLOTS * layout.CALL_BYTES
        op, shape, dtype = words
        fields = (thread, op, group.name, shape, dtype, path, root, flags)
        _CALL.pack_into(self._area, at, 0, self._tick(), time.monotonic_ns(), 0, number, *fields)
        self._words[at >> 3] = index + 1
        return at >> 3, index + 1

    def leave(self, slot, failed):
        """Writes that the call is over, unless its slot was taken by a later one."""
        at, commit = slot
        if self._words[at] != commit:
            return
        if failed:
            flags_at = (at << 3) + layout.CALL_FLAGS_OFFSET
            flags = struct.unpack_from("<I", self._area, flags_at)[0]
            struct.pack_into("<I", self._area, flags_at, flags | layout.FLAG_FAILED)
        self._words[at + layout.CALL_LEFT_OFFSET // 8] = time.monotonic_ns()

    def count(self, group, kind_hash):
        """Adds one call to what the group's ranks must agree on."""
        group.hash = new = (group.hash * _PRIME ^ kind_hash) & _MASK
        group.calls = calls = group.calls + 1
        if group.at is None:
            return
        at = (group.at >> 3) + 2
        self._words[at] = calls
        self._words[at + 1] = new
        if not calls % layout.CHECKPOINT_EVERY:
            slot = calls // layout.CHECKPOINT_EVERY % layout.CHECKPOINT_SLOTS
            self._words[group.checkpoints + slot] = new

    def count_uneven(self, group, operations):
        """Adds operations that the group's counter counts and other ranks need not make, -1 for one it leaves out."""
        group.uneven += operations
        if group.at is not None:
            struct.pack_into("<I", self._area, group.at + layout.GROUP_UNEVEN_OFFSET, group.uneven & 0xFFFFFFFF)

    def _new_path(self, key, frame):
        """Returns the id of the call path that ends in `frame`, and remembers it."""
        path = self._paths.of(frame)
        if path:
            if len(self._path_ids) >= MAX_KNOWN:
                self._path_ids.clear()
                self._held.clear()
            outer = frame
            while outer is not None:
                self._held[id(outer.f_code)] = outer.f_code
                outer = outer.f_back
            self._path_ids[key] = path
        return path
