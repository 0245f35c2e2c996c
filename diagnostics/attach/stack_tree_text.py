"""What a look at a running job shows on a terminal: who stands where, then the stacks as one tree. Pure."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from diagnostics.core import redaction
from diagnostics.core.frame import Frame
from diagnostics.core.frames import location
from diagnostics.dynamic.job.job import ProcessRole
from diagnostics.dynamic.job.stack_classifier import RankActivity, is_library, is_native, shown_file
from diagnostics.dynamic.stall.motion import ActivityLevel
from diagnostics.dynamic.stall.stack_prefix_tree import (
    PrefixNode,
    ProcessStack,
    groups,
    missing_ranks,
    names,
    prefix_tree,
    ranges,
)

SHOWN_GROUPS = 24
SHOWN_LIBRARY = 4  # library frames in a row; more are folded
_COLOURS = {
    ActivityLevel.MOVES: "32",
    ActivityLevel.BUSY: "33",
    ActivityLevel.POLLS: "33",
    ActivityLevel.FROZEN: "31",
    ActivityLevel.STOPPED: "31",
}
BOLD, DIM = "1", "2"
_PLURALS = {
    ProcessRole.LAUNCHER: "launcher",
    ProcessRole.DATA_WORKER: "data worker",
    ProcessRole.HELPER: "helper",
    ProcessRole.SHELL: "shell",
    ProcessRole.RANK: "rank",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TextTree:
    """How and what to print. `texts` are source lines of the frames seen; `verbose` folds nothing."""

    cwd: str
    width: int = 100
    colour: bool = False
    verbose: bool = False
    texts: Mapping[Frame, str] = field(default_factory=dict)


def lines_of(
    standings: Sequence[ProcessStack], screen: TextTree, *, seconds: float, looks: int, world_size: int | None
) -> list[str]:
    """Returns the whole screen: a headline, one line a group, the tree."""
    ranks = [one for one in standings if _is_rank(one)]
    tree = [line for branch in prefix_tree(ranks) for line in _branch(branch, standings, screen, 1)]
    others = [one for one in standings if not _is_rank(one) and one.owner is None]
    rest = [line for one in others for line in _other(one, screen)]
    if screen.verbose:
        rest += [line for branch in prefix_tree(others) for line in _branch(branch, standings, screen, 1)]
    parts = [
        [_headline(standings, seconds, looks, world_size)],
        who_lines(standings, screen, world_size=world_size),
        ["", "stacks, outermost first:", *tree] if tree else [],
        ["", *rest] if rest else [],
    ]
    return [_cut(line, screen) for part in parts for line in part]


def who_lines(standings: Sequence[ProcessStack], screen: TextTree, *, world_size: int | None) -> list[str]:
    """Returns one line a group of ranks: who, where, and whether they move; then the ranks that are not here."""
    ranks = [one for one in standings if _is_rank(one)]
    found = groups(ranks)
    lines = [line for group in found[:SHOWN_GROUPS] for line in _group(group, screen)]
    if len(found) > SHOWN_GROUPS:
        lines.append(f"  {len(found) - SHOWN_GROUPS} more groups: --json has them all")
    absent = missing_ranks(ranks, world_size)
    if absent:
        lines.append(f"  {_plural('rank', len(absent))} {ranges(absent)}: not on this machine")
    return [_cut(line, screen) for line in lines]


def place_in_words(one: ProcessStack, cwd: str, texts: Mapping[Frame, str]) -> str:
    """Returns "train.py:40 loop: waits in all_reduce"."""
    return redaction.line(_place(one, cwd, texts))


def _place(one: ProcessStack, cwd: str, texts: Mapping[Frame, str]) -> str:
    place = one.place
    if place.doing is RankActivity.UNKNOWN:
        waits = f"waits in {one.moved.waits_in} (kernel)" if one.moved.waits_in else "no stack"
        return f"{waits}: {' '.join(one.argv)}" if one.argv else waits
    if one.part is ProcessRole.DATA_WORKER and (not place.user or is_library(place.user[0])):
        return "waits for orders"
    where = f"{location(place.user[0], cwd)} {place.user[0].function}" if place.user else ""
    text = texts.get(place.user[0], "") if place.user else ""
    doing = {
        RankActivity.WAITS: f"waits in {place.op}",
        RankActivity.BACKWARD: "in backward",
        RankActivity.LEAVING: "its program is through, the interpreter shuts down",
    }.get(place.doing, text)
    return ": ".join(filter(None, (where, doing))) or f"{shown_file(one.frames[0].file)} {one.frames[0].function}"


def _headline(standings: Sequence[ProcessStack], seconds: float, looks: int, world_size: int | None) -> str:
    ranks = [one for one in standings if _is_rank(one)]
    named = [one for one in ranks if one.rank is not None]
    counts = [f"{_count('rank', len(named))}{f' of {world_size}' if world_size else ''}"] if named else []
    if len(ranks) > len(named):
        counts.append(_count("process", len(ranks) - len(named)))
    for part in (ProcessRole.LAUNCHER, ProcessRole.DATA_WORKER, ProcessRole.HELPER, ProcessRole.SHELL):
        number = sum(one.part is part for one in standings)
        counts += [_count(_PLURALS[part], number)] if number else []
    return f"ups-doctor: {', '.join(counts)}; {_count('look', looks)} in {seconds:.1f} s"


def _group(group: Sequence[ProcessStack], screen: TextTree) -> Iterator[str]:
    one = group[0]
    who = f"  {_paint(names(group), BOLD, screen)}"
    motion = one.moved.words
    if len({each.moved.words for each in group}) > 1:
        motion = motion.partition(", ")[0]
    where = place_in_words(one, screen.cwd, screen.texts)
    plain = f"  {names(group):<11} {where}"
    pad = " " * max(0, 11 - len(names(group)))
    if len(plain) + len(motion) + 3 <= screen.width:
        yield f"{who}{pad} {where}   {_paint(motion, _COLOURS.get(one.moved.motion, ''), screen)}"
    else:
        lines = textwrap.wrap(where, max(screen.width - 14, 30), max_lines=2, placeholder=" ...") or [""]
        yield f"{who}{pad} {lines[0]}" if len(names(group)) <= 11 else who
        for line in lines[1:] if len(names(group)) <= 11 else lines:
            yield f"{' ' * 14}{line}"
        yield f"{' ' * 14}{_paint(motion, _COLOURS.get(one.moved.motion, ''), screen)}"
    if one.problem and not one.problem.startswith(("refused", "no py-spy")):
        yield f"{' ' * 14}{_paint(one.problem, DIM, screen)}"


def _branch(branch: PrefixNode, standings: Sequence[ProcessStack], screen: TextTree, depth: int) -> Iterator[str]:
    indent = "  " * depth
    yield f"{indent}{_paint(names(branch.who), BOLD, screen)}"
    values = _values_of(branch)
    yield from (f"{indent}  {line}" for line in _frames(branch.frames, values, screen))
    inside = {one.pid for child in branch.children for one in child.who}
    ends = [one for one in branch.who if one.pid not in inside]
    if ends and branch.children:
        yield f"{indent}  {names(ends)}: here"
    yield from (f"{indent}  {line}" for line in _children(ends, standings, screen))
    for child in branch.children:
        yield from _branch(child, standings, screen, depth + 1)


def _frames(frames: Sequence[Frame], values: Mapping[Frame, str], screen: TextTree) -> Iterator[str]:
    """Yields one line a frame; of many library frames in a row the first and the last ones."""
    run: list[Frame] = []
    for frame in [*frames, None]:
        if frame is not None and is_library(frame):
            run.append(frame)
            continue
        folded = len(run) > SHOWN_LIBRARY and not screen.verbose
        for part in run[:2] if folded else run:
            yield _frame(part, screen)
        if folded:
            yield _paint(f"... {len(run) - SHOWN_LIBRARY} more of {_package(run[2])}", DIM, screen)
            yield from (_frame(part, screen) for part in run[-2:])
        run = []
        if frame is not None:
            yield _frame(frame, screen)
            if values.get(frame):
                yield f"    {_paint(values[frame], DIM, screen)}"


def _frame(frame: Frame, screen: TextTree) -> str:
    if is_native(frame):
        return _paint(f"{frame.file.rpartition('/')[2]} {frame.function}", DIM, screen)
    if is_library(frame):
        return _paint(f"{shown_file(frame.file)}:{frame.line} {frame.function}", DIM, screen)
    where = redaction.line(f"{location(frame, screen.cwd)} {frame.function}")
    text = screen.texts.get(frame, "")
    room = screen.width - len(where) - 14
    return f"{where}   {_paint(text[:room], DIM, screen)}" if text and room > 10 else where


def _children(owners: Sequence[ProcessStack], standings: Sequence[ProcessStack], screen: TextTree) -> Iterator[str]:
    """Yields what the ranks that end here have started: equal ones once."""
    pids = {one.pid for one in owners}
    kids = [one for one in standings if one.owner in pids]
    for group in groups(kids):
        one = group[0]
        each = len(group) / len(pids)
        number = f"{len(group)} {_PLURALS[one.part]}{'s' if len(group) > 1 else ''}"
        if len(group) == 1:
            number = f"{_PLURALS[one.part]} pid {one.pid}"
        elif len(pids) > 1 and each == int(each):
            number += f" ({int(each)} each)"
        where = place_in_words(one, screen.cwd, screen.texts)
        motion = _paint(one.moved.words.partition(", ")[0], _COLOURS.get(one.moved.motion, ""), screen)
        yield f"+ {number}: {where}   {motion}"


def _other(one: ProcessStack, screen: TextTree) -> Iterator[str]:
    command = redaction.line(" ".join(one.argv))
    yield _paint(f"{_PLURALS[one.part]} pid {one.pid}: {command}   {one.moved.words}", DIM, screen)


def _values_of(branch: PrefixNode) -> dict[Frame, str]:
    """Returns local values by frame where one process is here alone."""
    if len(branch.who) != 1 or not branch.who[0].values:
        return {}
    return dict(zip(branch.who[0].frames, branch.who[0].values, strict=False))


def _is_rank(one: ProcessStack) -> bool:
    return one.part is ProcessRole.RANK


def _package(frame: Frame) -> str:
    return shown_file(frame.file).partition("/")[0].removesuffix(".py")


def _plural(word: str, number: int) -> str:
    return word if number == 1 else f"{word}es" if word.endswith("s") else f"{word}s"


def _count(word: str, number: int) -> str:
    return f"{number} {_plural(word, number)}"


def _paint(text: str, code: str, screen: TextTree) -> str:
    return f"\033[{code}m{redaction.line(text)}\033[0m" if screen.colour and code and text else text


def _cut(line: str, screen: TextTree) -> str:
    """Returns the line without secrets and not wider than the screen; colours take no room."""
    if not screen.colour:
        safe = redaction.line(line)
        return safe if len(safe) <= screen.width else f"{safe[: screen.width - 3]}..."
    shown, room, out = 0, screen.width, []
    for number, piece in enumerate(line.split("\033[")):
        code, text = ("", piece) if number == 0 else (piece.partition("m")[0], piece.partition("m")[2])
        safe = redaction.line(text)
        kept = safe if shown + len(safe) <= room else f"{safe[: max(0, room - shown - 3)]}..." if shown < room else ""
        shown += len(safe)
        out.append((f"\033[{code}m" if number else "") + kept)
    return "".join(out)
