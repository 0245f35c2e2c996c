"""What became of an exception that told a Python program of a child's failure. Pure.

It is followed outwards through the frames on its way. A handler that can take it and only says so drops it, unless
something else tells the two ways apart: what follows the call, an `else`, a value that is returned.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, replace

from diagnostics.core.frame import Frame, Owner
from diagnostics.core.frames import owner_of
from diagnostics.dynamic.exit_status.call_kinds import CallKind, call_kind
from diagnostics.dynamic.exit_status.caught_types import CHILD_FAILED, Catches, RaisedType, catches, raised_by
from diagnostics.dynamic.exit_status.enclosing_statements import Enclosing, enclosing
from diagnostics.dynamic.exit_status.failure_flow import FailureFlow
from diagnostics.dynamic.exit_status.own_context_managers import own_manager
from diagnostics.dynamic.exit_status.syntax_index import own_nodes
from diagnostics.dynamic.exit_status.value_carriers import Consequence
from diagnostics.dynamic.job.job import Job
from diagnostics.static.launch_files.status_flow import Fate, StatusFlow
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.exception_flow import ends_in_raise, hiding_line, leaves_with_success
from diagnostics.static.program.functions import last_name
from diagnostics.static.program.source_file import SourceFile

# Context managers that expect an exception, and those of the standard library and of torch that let each one through.
_EXPECTING = frozenset(["raises", "assertRaises", "assertRaisesRegex"])
_LETTING = frozenset(
    ["open", "Popen", "TemporaryDirectory", "NamedTemporaryFile", "TemporaryFile", "Lock", "RLock", "closing", "chdir",
     "ThreadPoolExecutor", "ProcessPoolExecutor", "Pool", "redirect_stdout", "redirect_stderr", "nullcontext",
     "catch_warnings", "socket", "no_grad", "inference_mode", "autocast"]
)  # fmt: skip
_NOT_SEEN = StatusFlow(fate=Fate.UNKNOWN, how="an exception told its parent, and who took it is not seen")
_DECIDES = StatusFlow(fate=Fate.UNKNOWN, how="an exception told its parent, whose way on may depend on it")


def what_became_of(
    job: Job, path: Sequence[Frame], agent_folder: str, kept: int | None, sources: Sequence[SourceFile]
) -> StatusFlow:
    """Follows the exception outwards to who caught it; `kept` frames stand before the standard library's first one.

    `sources` are the files of the program.
    """
    frames, through_library = _own_frames(path if kept is None else path[:kept], agent_folder)
    way = _Way(job, frames, sources, unsure=through_library)
    for index in range(len(frames)):
        found = way.through(index)
        if found is not None:
            unsure = way.unsure or way.swallowed is not None
            return _NOT_SEEN if unsure and found.fate is Fate.DROPPED else found
    if way.unsure or kept is not None or not frames:
        return _NOT_SEEN
    # The parent ended well, and nothing further out takes it: the context manager that can did.
    return way.swallowed or StatusFlow(fate=Fate.HANDLED, how="an exception told its parent")


def _own_frames(path: Sequence[Frame], agent_folder: str) -> tuple[tuple[Frame, ...], bool]:
    """Returns the user's frames up to the next library, which may take it, and whether one stands before them."""
    told = [(frame, owner_of(frame, agent_folder)) for frame in path]
    first = next((index for index, (_, owner) in enumerate(told) if owner is Owner.USER), len(told))
    own: list[Frame] = []
    for frame, owner in told[first:]:
        if owner in (Owner.PACKAGE, Owner.LAUNCHER):
            break
        if owner is Owner.USER:
            own.append(frame)
    return tuple(own), any(owner is Owner.PACKAGE for _, owner in told[:first])


@dataclass(slots=True)
class _Way:
    """The exception on its way: its type so far, and whether something may have taken it unseen."""

    job: Job
    frames: Sequence[Frame]
    sources: Sequence[SourceFile]
    unsure: bool
    error: RaisedType = CHILD_FAILED
    swallowed: StatusFlow | None = None  # what it means that a context manager of the job's own took it

    def through(self, index: int) -> StatusFlow | None:
        """Returns what became of it in one frame; None where it left that by its caller."""
        frame = self.frames[index]
        source = self.job.sources.file(frame.file)
        around = enclosing(source, frame)
        if around is None:
            return None
        for at in range(len(around.levels) - 1, -1, -1):
            owner, part = around.levels[at].owner, around.levels[at].part
            found = None
            if isinstance(owner, ast.Try):
                found = self.by_try(index, owner, part, source, around, at)
            elif isinstance(owner, (ast.With, ast.AsyncWith)):
                found = self.by_with(index, owner, source, around, at)
            elif hasattr(ast, "TryStar") and isinstance(owner, ast.TryStar):
                self.unsure = True
            if found is not None:
                return found
        return None

    def by_try(
        self, index: int, block: ast.Try, part: str, source: SourceFile, around: Enclosing, at: int
    ) -> StatusFlow | None:
        handler = self.taking(block, source) if part == "body" else None
        if handler is not None and not ends_in_raise(handler.body):
            if self.answers(handler, source):
                at_line = self.job.line(self.frames[index])
                return StatusFlow(fate=Fate.HANDLED, how=f"an exception told its parent, which caught it ({at_line})")
            dropped = self.dropped(index, hiding_line(block), "its handler only says so")
            return _DECIDES if self.decides(around, at, source, handler.body) else dropped
        if handler is not None:
            self.error = raised_by(handler, self.error)
        if part == "finalbody" or not block.finalbody:
            return None
        if leaves_with_success(block.finalbody):
            return self.dropped(index, hiding_line(block), "its `finally` leaves with 0")
        self.unsure = self.unsure or isinstance(block.finalbody[-1], (ast.Return, ast.Break, ast.Continue))
        return None

    def taking(self, block: ast.Try, source: SourceFile) -> ast.ExceptHandler | None:
        """Returns the handler that takes it."""
        for handler in block.handlers:
            match catches(handler.type, self.error, source):
                case Catches.YES:
                    return handler
                case Catches.MAYBE:
                    self.unsure = True
        return None

    def by_with(
        self, index: int, block: ast.With | ast.AsyncWith, source: SourceFile, around: Enclosing, at: int
    ) -> StatusFlow | None:
        for item in reversed(block.items):
            call = item.context_expr
            name = last_name(call.func) if isinstance(call, ast.Call) else ""
            if name in _EXPECTING:
                return StatusFlow(fate=Fate.HANDLED, how="an exception told its parent, which expects it")
            if name != "suppress" or not isinstance(call, ast.Call):
                if name not in _LETTING:
                    self.by_own(index, block, source, around, at, name)
                continue
            match catches(ast.Tuple(elts=call.args), self.error, source):
                case Catches.YES:
                    dropped = self.dropped(index, block.lineno, "suppress() swallowed it")
                    return _DECIDES if self.decides(around, at, source) else dropped
                case Catches.MAYBE:
                    self.unsure = True
        return None

    def by_own(
        self, index: int, block: ast.With | ast.AsyncWith, source: SourceFile, around: Enclosing, at: int, name: str
    ) -> None:
        """Notes whether a context manager that is none of the standard library's can swallow it."""
        frame = self.frames[index]
        own = own_manager(self.job, frame.file, name, self.error)
        if own is None or (own.lines and self.swallowed is not None):
            self.unsure = True
        elif own.lines and (self.decides(around, at, source) or _asked_after(block, around.scope)):
            self.swallowed = _DECIDES
        elif own.lines:
            told = self.dropped(index, block.lineno, f"leaving `with {name}(...)` swallowed it")
            lines = (self.job.line(Frame(file=own.file, line=line, function="")) for line in own.lines)
            self.swallowed = replace(told, places=(*told.places[:1], *lines, *told.places[1:]))

    def answers(self, handler: ast.ExceptHandler, source: SourceFile) -> bool:
        """Whether a handler does more than to say what it got, or to keep that for words: it may leave a file."""
        calls = (one for one in own_nodes(handler.body) if isinstance(one, ast.Call))
        if any(call_kind(one) is CallKind.WRITES for one in calls):
            return True
        return FailureFlow([source, *self.sources]).of_blocks(handler.body) is Consequence.ACTED_ON

    def decides(self, around: Enclosing, at: int, source: SourceFile, handler: Sequence[ast.stmt] = ()) -> bool:
        """Whether the program can tell what came of it though its handler only says so."""
        inside = around.levels[at:]
        guard = inside[0].owner
        if guard is None:
            return True
        skipped = [*(one for level in inside for one in level.after), *getattr(guard, "orelse", ())]
        flow = FailureFlow([source, *self.sources])
        return flow.of_interruption(guard, inside[-1].statement, skipped, handler) is Consequence.ACTED_ON

    def dropped(self, index: int, line: int, how: str) -> StatusFlow:
        """Returns that it ended here, at a line of the frame's file."""
        frame = self.frames[index]
        place = self.job.line(Frame(file=frame.file, line=line, function=""))
        return StatusFlow(fate=Fate.DROPPED, places=(place, self.job.line(frame)), how=how, by_exception=True)


def _asked_after(block: ast.With | ast.AsyncWith, scope: ast.AST) -> bool:
    """Whether a name that `with ... as` gives is looked at outside of the block: it may know how that ended."""
    names = {
        one.id for item in block.items for one in walk(item.optional_vars or ast.Pass()) if isinstance(one, ast.Name)
    }
    inside = {id(one) for one in walk(block)}
    return any(isinstance(one, ast.Name) and one.id in names and id(one) not in inside for one in walk(scope))
