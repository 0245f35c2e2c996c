"""What is to be done with one cache file, and what became of it: plain data for the plan, the screen and the report."""

from __future__ import annotations

import os
from dataclasses import dataclass
from enum import StrEnum


class Action(StrEnum):
    """What a plan says about one file."""

    APPEND = "append"  # new bytes behind the old end make it right
    COPY = "copy"  # written anew under a temporary name, then renamed
    COMPACT = "compact"  # a copy without the bytes that no tensor uses
    QUARANTINE = "quarantine"  # moved away with a note
    REGENERATE = "regenerate"  # made again by the program that made it
    EXPORT = "export"  # a right copy elsewhere, the file itself untouched
    PRESENT = "present"  # that copy is there already
    LEAVE = "leave"  # nothing can or may be done; `why` says the reason


CHANGING = frozenset({Action.APPEND, Action.COPY, Action.COMPACT, Action.QUARANTINE, Action.REGENERATE, Action.EXPORT})
REWRITING = frozenset({Action.APPEND, Action.COPY, Action.COMPACT})


@dataclass(frozen=True, slots=True)
class Identity:
    """Tells whether a file is still the one that was looked at."""

    device: int
    inode: int
    size: int
    modified_ns: int

    @classmethod
    def of(cls, status: os.stat_result) -> Identity:
        """Returns the identity by a stat."""
        return cls(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePlan:
    """One file: the action and its reasons, in words for people; sizes in bytes."""

    path: str
    real: str  # `path` with links resolved: what is changed
    action: Action
    identity: Identity
    problems: tuple[str, ...] = ()  # names of what is wrong, errors first
    devices: tuple[str, ...] = ()
    why: str = ""  # what is changed, what is wrong, or why it is left alone
    note: str = ""  # what else should be known: other names of it
    commands: tuple[str, ...] = ()  # what does by hand what this command cannot
    target: str = ""  # where it is moved or copied to
    links: int = 1  # names that lead to the file
    also: tuple[str, ...] = ()  # those of them that become the repaired file as well
    home: str = ""  # the quarantine folder, which holds the note
    written: int = 0  # bytes that are written
    grows: int = 0  # bytes more that stay in use afterwards


class RepairStatus(StrEnum):
    """How the work on one file ended."""

    DONE = "done"
    LEFT = "left"  # untouched, for a reason
    FAILED = "failed"  # untouched, too: nothing half done stays behind


@dataclass(frozen=True, slots=True, kw_only=True)
class FileOutcome:
    """What became of one file."""

    plan: FilePlan
    status: RepairStatus
    text: str = ""  # why it was left or failed, or what was done
    written: int = 0
    seconds: float = 0.0
    backup: str = ""
