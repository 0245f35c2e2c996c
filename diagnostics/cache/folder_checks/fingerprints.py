"""Which files were seen with the same content: 8 bytes of fingerprint and a short path each, however many they are."""

from __future__ import annotations

from array import array
from collections.abc import Hashable
from dataclasses import dataclass, field

MAX_FINGERPRINTS = 1_000_000
MAX_PATH_BYTES = 64 << 20
EMPTY = 0
FULL64 = (1 << 64) - 1


@dataclass(slots=True)
class Fingerprints:
    """A hash table in two arrays; `full` once a file could not be kept."""

    slots: array[int] = field(default_factory=lambda: array("Q", bytes(8 * 1024)))
    places: array[int] = field(default_factory=lambda: array("L", bytes(8 * 1024)))  # where in `paths` each begins
    paths: bytearray = field(default_factory=bytearray)  # each ends with a zero byte
    count: int = 0
    full: bool = False

    def first(self, content: Hashable, path: str) -> str:
        """Returns the path that was first seen with this content, empty where it is this one."""
        key = hash(content) & FULL64 or 1
        at = self._slot(key)
        if self.slots[at] == key:
            begin = self.places[at]
            return self.paths[begin : self.paths.index(0, begin)].decode("utf-8", "surrogateescape")
        self._keep(at, key, path)
        return ""

    def _keep(self, at: int, key: int, path: str) -> None:
        if self.count >= MAX_FINGERPRINTS or len(self.paths) >= MAX_PATH_BYTES:
            self.full = True
            return
        self.slots[at], self.places[at] = key, len(self.paths)
        self.paths += path.encode("utf-8", "surrogateescape") + b"\0"
        self.count += 1
        if 2 * self.count > len(self.slots):
            self._grow()

    def _slot(self, key: int) -> int:
        mask = len(self.slots) - 1
        at = key & mask
        while self.slots[at] not in (EMPTY, key):
            at = (at + 1) & mask
        return at

    def _grow(self) -> None:
        old = zip(self.slots, self.places, strict=True)
        self.slots, self.places = array("Q", bytes(16 * len(self.slots))), array("L", bytes(16 * len(self.places)))
        for key, place in old:
            if key != EMPTY:
                at = self._slot(key)
                self.slots[at], self.places[at] = key, place
