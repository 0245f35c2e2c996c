"""The contract of "which line decided that one rank went another way": plain values and the question itself.

A rank's way is known at three places: the last call that all ranks made alike, what this rank did next, and what the
others did next instead. `localisation.py` reads the sources of the record and lists the statements at which the two
ways can part.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from diagnostics.core.frame import Frame, Scalar


class PointKind(StrEnum):
    """What kind of place a rank has come to."""

    CALL = "call"  # a collective or another call of torch.distributed, pending or done
    STANDS = "stands"  # outside of any: its stack when it was last seen
    ENDED = "ended"  # returned, exited, was through with its program


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramPoint:
    """One place on a rank's way. `path` is the whole Python stack there, innermost first, () where nothing is known."""

    way: PointKind
    op: str = ""
    path: tuple[Frame, ...] = ()
    root: int | None = None  # global rank that the call names as source or destination, None where there is none
    group: str = ""  # in which the call was made, "" where that is not told


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopSpan:
    """A loop in a source file, from its first to its last line."""

    file: str
    first: int
    last: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DivergenceQuery:
    """The question: since `agreed` the ranks `here` came to `here_at`, and the ranks `there` to `there_at`."""

    agreed: ProgramPoint | None  # None: from the start of the program
    here: tuple[int, ...]  # the ranks that went the other way, as far as that can be told
    here_at: ProgramPoint
    there: tuple[int, ...]
    there_at: ProgramPoint
    # Exceptions that a rank of `here` caught since, their tracebacks; what it left by sys.exit and the like
    caught: tuple[tuple[Frame, ...], ...] = ()
    loop: LoopSpan | None = None  # whose turns differed in number: the ways parted in it
    # What all of `here`, and all of `there`, have called before, as the lines of their own on the way to it
    made: tuple[frozenset[Frame], frozenset[Frame]] = (frozenset(), frozenset())


class StatementKind(StrEnum):
    """What kind of statement a decision is."""

    BRANCH = "branch"  # if / elif / conditional expression / match / and, or
    LOOP = "loop"  # how often a for or while loop runs
    LEAVES_LOOP = "break"
    SKIPS = "continue"
    RETURNS = "return"
    RAISES = "raise"  # raised, or out of a call that can raise
    HANDLES = "except"  # the handler (or finally, or with-suppress) that one rank was in
    CALLS = "call"  # a call that only one rank made and that hides an operation of the group
    EXITS = "exit"  # sys.exit, os._exit


@dataclass(frozen=True, slots=True, kw_only=True)
class DivergencePoint:
    """One statement at which the ways can part. `frame` is its file and line; `tainted_by` why ranks may differ."""

    kind: StatementKind
    frame: Frame
    text: str  # the source line, stripped
    tainted_by: str = ""  # "rank", "local loss", "files", "time", "random", "exception", "data"; "" nothing seen
    here_line: Frame | None = None  # where the ranks `here` went from there
    there_line: Frame | None = None  # and the others
    score: int = 0  # higher is likelier
    by_size: bool = False  # it asks how much its rank has in hand
    observed: bool = False  # the values of the waiting ranks send them apart there
    here_values: tuple[tuple[str, Scalar], ...] = ()  # what the statement reads, on the ranks `here`
    there_values: tuple[tuple[str, Scalar], ...] = ()
