"""A repair of cache files as terminal lines: the plan that a person agrees to, and what became of it. Pure."""

from __future__ import annotations

import os
import re
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from diagnostics.cache.repair.actions import REWRITING, Action, FileOutcome, FilePlan, RepairStatus
from diagnostics.cache.repair.engine import Prepared, RepairResult
from diagnostics.cache.repair.plan import Census
from diagnostics.cache.repair.space import Need
from diagnostics.cache.scan.terminal import in_bytes
from diagnostics.core import redaction

SHOWN_FILES = 5  # of one kind; the report names all
MARGIN = " " * 6
NARROW = 20  # columns; with fewer for its text a line is left to the terminal
LABEL = re.compile(r"  \w+ +[\d,]+  |(FAIL|left|note)  |backup: | +")
DONE_WORDS = {
    Action.APPEND: "repaired",
    Action.COPY: "repaired",
    Action.COMPACT: "compacted",
    Action.QUARANTINE: "moved",
    Action.REGENERATE: "made again",
    Action.EXPORT: "copied",
}


def files(number: int) -> str:
    """Returns '1 file' or '1,998 files'."""
    return f"{number:,} file{'s' * (number != 1)}"


def shown(path: str) -> str:
    """Returns a path as short as it can be from here."""
    here = f"{os.getcwd()}/"  # noqa: PTH109 - a string
    return redaction.line(path.removeprefix(here))


def fitted(lines: Iterable[str], width: int) -> Iterator[str]:
    """Yields lines that fit a terminal, what goes on indented below its text; width 0 changes nothing."""
    for line in lines:
        head = LABEL.match(line)
        hang = " " * (head.end() if head else 0)
        if len(line) <= width or not 0 < len(hang) + NARROW < width:
            yield line
            continue
        # A path or a command is never cut in two: it can be copied from the screen.
        wrapped = textwrap.wrap(line[len(hang) :], width - len(hang), break_long_words=False, break_on_hyphens=False)
        yield line[: len(hang)] + wrapped[0]
        yield from (hang + more for more in wrapped[1:])


def plan_lines(prepared: Prepared) -> Iterator[str]:
    """Yields what is wrong, what will be done with it, and what that costs; one line where nothing is to do."""
    plan, census = prepared.plan, prepared.plan.census
    yield _wrong(census, prepared.seconds)
    if found := _found(census):
        yield f"  {found}"
    if not plan.files:
        return
    yield ""
    yield from _rewriting(plan.by(*REWRITING))
    yield from _moves(plan.by(Action.QUARANTINE))
    yield from _group("remake", plan.by(Action.REGENERATE), "made again by the program that made them")
    yield from _exports(plan.by(Action.EXPORT), plan.by(Action.PRESENT))
    yield from _left(plan.by(Action.LEAVE))
    if plan.todo:
        yield ""
        yield from _costs(prepared)


def _wrong(census: Census, seconds: float) -> str:
    looked = f"{in_bytes(census.bytes)} ({seconds:.1f} s)"
    if not census.cache_files:
        return f"no cache file among {files(census.files)} ({seconds:.1f} s)"
    if not census.bad:
        return f"{census.cache_files:,} of {census.cache_files:,} cache files clean, {looked}"
    return f"{census.bad:,} of {census.cache_files:,} cache files bad, {looked}"


def _found(census: Census) -> str:
    devices = [f"{device} in {files(count)}" for device, count in census.devices.items()]
    problems = [f"{name}: {count:,}" for name, count in census.problems.items() if name != "cuda-in-cache"]
    warnings = [f"{name}: {count:,} (not touched)" for name, count in census.warnings.items()]
    return redaction.line(", ".join([*devices, *problems, *warnings]))


def _row(word: str, number: int, text: str) -> str:
    return f"  {word:<8}{number:>8,}  {text}"


def _group(word: str, found: Sequence[FilePlan], text: str, *, each: bool = False) -> Iterator[str]:
    if not found:
        return
    yield _row(word, len(found), text)
    told = found if each else [file for file in found if file.note]
    for file in told[:SHOWN_FILES]:
        yield f"{MARGIN}{shown(file.path)}: {redaction.line(file.note or file.why)}"
        yield from (f"{MARGIN}    {command}" for command in file.commands)
    if len(told) > SHOWN_FILES:
        yield f"{MARGIN}and {len(told) - SHOWN_FILES:,} more"


def _rewriting(found: Sequence[FilePlan]) -> Iterator[str]:
    by: dict[Action, list[FilePlan]] = {}
    for file in found:
        by.setdefault(file.action, []).append(file)
    texts = {
        Action.APPEND: "{bytes} behind the files' old ends; no byte of a tensor is read or moved",
        Action.COPY: "{bytes} written anew, each renamed when it is whole",
        Action.COMPACT: "{bytes} written anew without {saved} that no tensor uses",
    }
    for action, text in texts.items():
        some = by.get(action, [])
        saved = in_bytes(sum(file.identity.size - file.written for file in some))
        yield from _group(action, some, text.format(bytes=in_bytes(sum(file.written for file in some)), saved=saved))


def _moves(found: Sequence[FilePlan]) -> Iterator[str]:
    by: dict[str, list[FilePlan]] = {}
    for file in found:
        by.setdefault(file.home, []).append(file)
    for home, some in by.items():
        copied = sum(file.written for file in some)
        how = f", {in_bytes(copied)} to another file system" if copied else ""
        yield from _group("move", some, f"to {shown(home)}{how}; nothing is deleted", each=True)


def _exports(found: Sequence[FilePlan], present: Sequence[FilePlan]) -> Iterator[str]:
    if present:
        yield _row("keep", len(present), "copies that an earlier run has made")
    fixed = [file for file in found if file.problems]
    if found:
        size = in_bytes(sum(file.written for file in found))
        rest = "; the originals are not touched"
        yield from _group("copy", found, f"{size}, {len(fixed):,} of them repaired on the way{rest}")


def _left(found: Sequence[FilePlan]) -> Iterator[str]:
    yield from _group("leave", found, "for these reasons:", each=True)


def _costs(prepared: Prepared) -> Iterator[str]:
    todo = prepared.plan.todo
    written = sum(file.written for file in todo)
    jobs = f", {prepared.jobs} files at a time" if prepared.jobs > 1 and len(todo) > 1 else ""
    yield f"writes {in_bytes(written)}, about {_about(prepared.estimated_s)}{jobs}"
    for need in prepared.needs:
        yield _need(need)
    rewritten = [file for file in todo if file.action in REWRITING]
    if rewritten and prepared.places.backup is None:
        what = "no byte that a tensor uses" if prepared.plan.by(Action.COMPACT) else "no byte of a tensor"
        yield f"no backup: {what} changes (--backup DIR keeps the originals)"
    elif rewritten:
        size = in_bytes(sum(file.identity.size for file in rewritten))
        yield f"backup: {size} of originals go to {prepared.places.backup} first"
    if prepared.leftovers:
        yield f"removes {files(len(prepared.leftovers))} that a killed repair left half written"
    if prepared.plan.unseen:
        unseen = prepared.plan.unseen
        yield f"{unseen} process{'es' * (unseen > 1)} of other users cannot be seen, and may write to one of the files"


def _need(need: Need) -> str:
    passing = f", {in_bytes(need.passing)} of it only for a while" if need.passing else ""
    return f"needs {in_bytes(need.bytes)} free in {shown(need.folder)}{passing}; {in_bytes(need.free)} are free"


def _about(seconds: float) -> str:
    if seconds < 1:
        return "1 s"
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def question(prepared: Prepared) -> str:
    """Returns what is asked before the first change."""
    todo = prepared.plan.todo
    repaired = sum(file.action not in (Action.QUARANTINE, Action.EXPORT) for file in todo)
    moved = sum(file.action is Action.QUARANTINE for file in todo)
    copied = sum(file.action is Action.EXPORT for file in todo)
    counts = (("repair", repaired), ("copy", copied), ("move", moved))
    asked = " and ".join(f"{word} {files(number)}" for word, number in counts if number)
    return f"{asked[:1].upper()}{asked[1:]}?"


def result_lines(result: RepairResult) -> Iterator[str]:
    """Yields what was not done and why, then what was done and how the files are now."""
    for outcome in result.left[:SHOWN_FILES]:
        yield from _outcome(outcome)
    if len(result.left) > SHOWN_FILES:
        yield f"and {len(result.left) - SHOWN_FILES:,} more that could not be made right"
    notes = Counter(outcome.text for outcome in result.done if outcome.text)
    yield from (f"note  {files(number)}: {redaction.line(text)}" for text, number in notes.items())
    yield done_line(result)
    if result.interrupted:
        undone = len(result.prepared.plan.todo) - sum(outcome.plan.action in DONE_WORDS for outcome in result.outcomes)
        yield f"stopped: {files(undone)} not begun; each file is whole, old or new; run again to go on"
    elif result.after:
        yield now_line(result.prepared.plan.census, result.after.census)


def _outcome(outcome: FileOutcome) -> Iterator[str]:
    mark = "FAIL" if outcome.status is RepairStatus.FAILED else "left"
    yield f"{mark}  {shown(outcome.plan.path)}: {redaction.line(outcome.text)}"
    yield from (f"{MARGIN}    {command}" for command in outcome.plan.commands)


def done_line(result: RepairResult) -> str:
    """Returns '1,990 repaired, 3 moved, 1 left alone (1.9 s, 102.6 MiB written)'."""
    done = Counter(DONE_WORDS[outcome.plan.action] for outcome in result.done)
    statuses = Counter(outcome.status for outcome in result.left)
    parts = [f"{number:,} {word}" for word, number in done.items()]
    parts += [f"{statuses[RepairStatus.LEFT]:,} left alone"] * bool(statuses[RepairStatus.LEFT])
    parts += [f"{statuses[RepairStatus.FAILED]:,} failed"] * bool(statuses[RepairStatus.FAILED])
    written = sum(outcome.written for outcome in result.outcomes)
    return f"{', '.join(parts) or 'nothing done'} ({result.seconds:.1f} s, {in_bytes(written)} written)"


def now_line(before: Census, after: Census) -> str:
    """Returns how the files are now, and how they were."""
    good = after.cache_files - after.bad
    left = f"; left: {_found_errors(after)}" if after.bad else ""
    were = f"{before.bad:,} {'was' if before.bad == 1 else 'were'} bad"
    return f"{good:,} of {after.cache_files:,} cache files clean now, {were}{left}"


def _found_errors(census: Census) -> str:
    return ", ".join(f"{name}: {count:,}" for name, count in census.problems.items())
