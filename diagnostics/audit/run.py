"""One audit from paths to what is shown: settings, files, the cache, rules, and what comments excuse."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType

from diagnostics import audit
from diagnostics.audit import cache, engine, selection, settings
from diagnostics.audit.files import OF_NO_KIND, Skipped, collect, shown_path
from diagnostics.audit.found import Audit, Crash, Found, in_order
from diagnostics.audit.selection import Selection
from diagnostics.audit.settings import AuditSettings
from diagnostics.audit.suppression import bad_ignore, unused_ignore
from diagnostics.audit.suppression.ignores import Ignore, ignores
from diagnostics.audit.time_limit import THE_REST
from diagnostics.core.registry import BrokenPlugin, discover
from diagnostics.static.program.project_file import ProjectFile


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditOptions:
    """What the command line says; `select` and `ignore` as written."""

    paths: tuple[Path, ...] = (Path(),)
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    jobs: int = 0  # 0: one a core
    cache_folder: Path | None = None
    unsaved: Mapping[Path, str] = field(default_factory=dict)  # by absolute path: what an editor holds of a file


def run(options: AuditOptions) -> Audit:
    """Returns what is found in the paths. Raises UsageError for a wrong path, code or setting."""
    began = time.monotonic()
    broken: list[BrokenPlugin] = []
    every = known_rules(broken)
    said = settings.load(options.paths[0], every)
    chosen = _selection(options, said, every)
    asked = {code: rule for code, rule in chosen.of(every).items() if hasattr(rule, "check")}
    collected = collect(options.paths, excluded=said.excluded)
    answer = _answer(tuple(_as_edited(one, options.unsaved) for one in collected.files), asked, options)
    answer = _excused(answer, said, chosen, every)
    return replace(
        answer,
        skipped=_skipped(collected.skipped + answer.skipped, options.paths),
        crashed=answer.crashed + tuple(_broken(one) for one in broken),
        seconds=time.monotonic() - began,
    )


def _skipped(skipped: Sequence[Skipped], paths: Sequence[Path]) -> tuple[Skipped, ...]:
    """Returns the unread files, those first that were named: nothing is known of what was asked for."""
    folder = Path.cwd()
    named = {shown_path(path, folder) for path in paths}
    marked = [replace(one, named=one.path in named and one.problem != OF_NO_KIND) for one in skipped]
    return tuple(sorted(marked, key=lambda one: (not one.named, one.path)))


def _as_edited(file: ProjectFile, unsaved: Mapping[Path, str]) -> ProjectFile:
    """Returns a file with the text that an editor holds of it; a notebook is read as it was saved."""
    text = unsaved.get(Path(file.shown).absolute()) if unsaved and not file.cells else None
    return file if text is None else ProjectFile(file.shown, text.encode("utf-8", "surrogatepass"), file.kind)


def known_rules(broken: list[BrokenPlugin] | None = None) -> dict[str, ModuleType]:
    """Returns every rule by code, also those about ignoring comments, which the engine itself asks."""
    unread: list[BrokenPlugin] = [] if broken is None else broken
    return discover(audit, broken=unread)


def rules_of_files() -> dict[str, ModuleType]:
    """Returns the rules that are asked about files, by code."""
    return {code: rule for code, rule in known_rules().items() if hasattr(rule, "check")}


def cores() -> int:
    """Returns how many processes may run at once."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _selection(options: AuditOptions, said: AuditSettings, every: Mapping[str, ModuleType]) -> Selection:
    select = selection.split(options.select, every, where="--select")
    ignore = selection.split(options.ignore, every, where="--ignore")
    return Selection(select=select or said.select, ignore=(*said.ignore, *ignore))


def _answer(files: Sequence[ProjectFile], asked: Mapping[str, ModuleType], options: AuditOptions) -> Audit:
    where = options.cache_folder
    name = cache.key(files, asked) if where is not None else ""
    known = cache.load(where, name, files) if where is not None else None
    if known is not None:
        return known
    answer = engine.audit(files, asked, jobs=options.jobs or cores())
    if where is not None:
        cache.save(where, name, answer)
    return answer


def _excused(answer: Audit, said: AuditSettings, chosen: Selection, every: Mapping[str, ModuleType]) -> Audit:
    """Returns the audit without what comments and per-file-ignores excuse, with what is wrong with the comments."""
    comments = [one for file in answer.files for one in ignores(file)]
    good = [one for one in comments if not one.problem]
    used: set[Ignore] = set()
    kept: list[Found] = []
    ignored: list[Found] = []
    near: dict[str, list[Ignore]] = {}  # by every place that a comment means, and by its file
    for comment in good:
        for place in (comment.file.shown,) if comment.whole_file else comment.places:
            near.setdefault(place, []).append(comment)
    for one in answer.found:
        places = dict.fromkeys(
            (one.hit.file.shown, one.hit.file.place(one.hit.line), *(s.place for s in one.hit.steps))
        )
        by = [comment for place in places for comment in near.get(place, ()) if _excuses(comment, one)]
        used.update(by)
        excused = bool(by) or said.ignored_in(one.hit.file.shown, one.code, one.name)
        (ignored if excused else kept).append(one)
    crashed = {(crash.code, crash.path) for crash in answer.crashed}
    late = {crash.path for crash in answer.crashed if crash.reason.endswith(THE_REST)}
    unused = [
        one
        for one in good
        if one not in used and one.file.shown not in late and _all_asked(one, chosen, every, crashed)
    ]
    own = [
        engine.found_by(rule, hit)
        for rule, hits in ((bad_ignore, bad_ignore.hits(comments, every)), (unused_ignore, unused_ignore.hits(unused)))
        for hit in hits
        if chosen.holds(rule.CODE, rule.NAME) and not said.ignored_in(hit.file.shown, rule.CODE, rule.NAME)
    ]
    return replace(answer, found=in_order([*kept, *own]), ignored=tuple(ignored))


def _excuses(comment: Ignore, found: Found) -> bool:
    if not comment.names(found.code):
        return False
    if comment.whole_file:
        return comment.file is found.hit.file
    if comment.file is found.hit.file and found.hit.line in comment.lines:
        return True
    return any(step.place in comment.places for step in found.hit.steps)


def _all_asked(
    comment: Ignore, chosen: Selection, every: Mapping[str, ModuleType], crashed: set[tuple[str, str]]
) -> bool:
    """Whether every rule a comment is about was asked: else nobody knows whether it is needed."""
    about = {code: rule for code, rule in every.items() if comment.names(code)}
    return bool(about) and all(
        chosen.holds(code, rule.NAME) and (code, comment.file.shown) not in crashed for code, rule in about.items()
    )


def _broken(plugin: BrokenPlugin) -> Crash:
    reason = f"{type(plugin.error).__name__}: {plugin.error}"
    return Crash(code=plugin.name, path=plugin.path, reason=f"the rule cannot be imported: {reason}")
