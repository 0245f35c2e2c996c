"""The dotted path of a module whose constructor was running, from recorded call paths and the source lines.

The call path of a recorded construction starts in its own `__init__`. A constructor is still running while a later
construction is called from a deeper frame of it. The attribute comes from the statement in the parent's
constructor (`self.attn = Attention(...)`), the index in a container from counting.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Sequence

from diagnostics.core.frame import Frame
from diagnostics.dynamic.job.module_attribute import attribute_of
from diagnostics.record.agent_data import Construction
from diagnostics.static.program.source_file import Sources


def open_constructions(
    constructions: Sequence[Construction], crashed_in: Sequence[Frame] = ()
) -> tuple[Construction, ...]:
    """Returns the constructors that were running, outermost first.

    At a crash with the user frames `crashed_in` (innermost first), else when the last of `constructions`
    (oldest first) began.
    """
    if not crashed_in:
        return tuple(_open_chain(constructions))
    last = constructions[-1] if constructions else None
    if last is not None and not last.own and _same_lines(last.path, crashed_in):
        return tuple(_open_chain(constructions))  # died inside a library's constructor
    crash = Construction(sequence=1 << 62, class_name="", path=tuple(crashed_in), own=0)
    return tuple(_open_chain([*constructions, crash])[:-1])


def construction_path(
    chain: Sequence[Construction], constructions: Sequence[Construction], sources: Sources
) -> tuple[str, str]:
    """Returns (dotted path, root class) of the innermost of `chain`; the root's own path is ""."""
    parts = [_segment(parent, child, constructions, sources) for parent, child in itertools.pairwise(chain)]
    return ".".join(parts), chain[0].class_name if chain else ""


def _same_lines(path: Sequence[Frame], other: Sequence[Frame]) -> bool:
    return [(one.file, one.line) for one in path] == [(one.file, one.line) for one in other]


def _plain(frame: Frame) -> str:
    """Python before 3.11 and faulthandler know `__init__` only, not `Net.__init__`."""
    return frame.function.rpartition(".")[2]


def _open_chain(constructions: Sequence[Construction]) -> list[Construction]:
    """Returns the constructors that were running when the last one began, outermost first."""
    if not constructions:
        return []
    chain = [constructions[-1]]
    for earlier in reversed(constructions[:-1]):
        if _is_inside(chain[-1], earlier) is not None:
            chain.append(earlier)
    return chain[::-1]


def _is_inside(inner: Construction, outer: Construction) -> Frame | None:
    """Returns the frame of `outer`'s constructor from which `inner` was called, None where it was not.

    `outer` may have reached Module.__init__ through several levels of super().__init__().
    """
    for level, own in enumerate(outer.path[: outer.own]):
        callers = outer.path[level + 1 :]
        at = len(inner.path) - len(callers) - 1
        if at < min(inner.own, 1) or not _same_lines(inner.path[at + 1 :], callers):
            continue
        frame = inner.path[at]
        if frame.file == own.file and _plain(frame) == _plain(own) and frame.line != own.line:
            return frame
    return None


def _segment(parent: Construction, child: Construction, all_of_them: Sequence[Construction], sources: Sources) -> str:
    """Returns the child's name in its parent: `attn`, `levels.1`, or `<Class>` where the source does not tell."""
    frame = _is_inside(child, parent)
    if frame is None:
        return f"<{child.class_name}>"
    source = sources.file(frame.file)
    statement = source.statement_at(frame.line)
    attribute, contained = attribute_of(statement, source, frame.line, child.class_name)
    if not attribute:
        return f"<{child.class_name}>"
    return f"{attribute}.{_index(parent, child, statement, all_of_them)}" if contained else attribute


def _index(
    parent: Construction, child: Construction, statement: ast.stmt | None, all_of_them: Sequence[Construction]
) -> str:
    """Returns how many siblings the same statement made before `child`; "?" where the parent's beginning is lost."""
    if statement is None:
        return "?"
    since = [one for one in all_of_them if parent.sequence < one.sequence < child.sequence]
    siblings = 0
    for position, one in enumerate(since):
        frame = _is_inside(one, parent)
        if frame is None or not statement.lineno <= frame.line <= (statement.end_lineno or statement.lineno):
            continue
        if not any(_is_inside(one, between) for between in since[:position]):
            siblings += 1
    return str(siblings)
