"""Which rows of metrics.jsonl a tracker has not been sent; kept on disk, so that no row is lost and none sent twice.

A resumed run cuts off what came after its checkpoint and makes those rows again: rows are told apart by stage, step
and kind, not by their place in the file.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

from ups.run_folder import write_atomically
from ups.stages import ORDER
from ups.tracking import Record


@dataclass(slots=True)
class Sent:
    """How far one tracker is; `run_id` is its name for this run."""

    run_id: str = ""
    rows: int = 0
    stage: int = -1  # of the last row
    step: int = -1
    kinds: list[str] = field(default_factory=list)  # of rows at that step
    finished: bool = False  # it knows how the run ended
    error: str = ""

    def is_new(self, record: Record) -> bool:
        """Whether the record comes after what was sent."""
        place = (ORDER.index(str(record["stage"])), int(record["step"]))
        return place > (self.stage, self.step) or (
            place == (self.stage, self.step) and record["kind"] not in self.kinds
        )

    def add(self, record: Record) -> None:
        """The record has been taken."""
        place = (ORDER.index(str(record["stage"])), int(record["step"]))
        if place != (self.stage, self.step):
            self.stage, self.step, self.kinds = *place, []
        self.kinds.append(str(record["kind"]))
        self.rows += 1

    def save(self, path: Path) -> None:
        """Keeps it. Raises OSError."""
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, json.dumps(asdict(self)).encode())

    @classmethod
    def load(cls, path: Path) -> Sent:
        """Returns what was kept; a file that cannot be read means that nothing was sent."""
        try:
            return cls(**json.loads(path.read_bytes()))
        except (OSError, ValueError, TypeError):
            return cls()


class Feed:
    """The rows of a file that grows, and may be cut."""

    def __init__(self, path: Path) -> None:
        self._path, self._read = path, 0

    def rows(self) -> list[Record]:
        """Returns the whole rows since the last call; after a cut, all of them once more."""
        try:
            with self._path.open("rb") as file:
                if self._read:
                    file.seek(self._read - 1)
                    if file.read(1) != b"\n":
                        self._read = 0
                        file.seek(0)
                content = file.read()
        except FileNotFoundError:
            return []
        whole = content[: content.rfind(b"\n") + 1]
        try:
            found: list[Record] = [json.loads(line) for line in whole.splitlines()]
        except ValueError:  # it was cut, and has grown since, or a crash left half a row in it
            if not self._read:
                return _readable(whole)
            self._read = 0
            return self.rows()
        self._read += len(whole)
        return found


def _readable(content: bytes) -> list[Record]:
    found = []
    for line in content.splitlines():
        try:
            found.append(json.loads(line))
        except ValueError:
            continue
    return found
