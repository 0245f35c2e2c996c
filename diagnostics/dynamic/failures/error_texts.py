"""Where a known text was the reason of a failure: in what a process at fault raised or, without that, last wrote. Pure.

An exception that was handled is no reason: of a process whose exception is known only that one counts, with what it
followed from. Of one that ended by `sys.exit` or a signal the last lines count.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass

from diagnostics.core.findings import Evidence
from diagnostics.core.wording import distinct
from diagnostics.dynamic.failures.root_exception import RootException, locations_of, of_raised, root_exception
from diagnostics.dynamic.job.evidence import PASSED_ON, ended_s, output_evidence, path_evidence, primary_failures
from diagnostics.dynamic.job.job import ExceptionSource, Job, JobProcess, ProcessRole
from diagnostics.record.tracebacks import plain_lines

LAST_LINES = 60  # of a process without a known exception: older ones are about something it lived through
SHOWN = 600  # characters of a text as evidence
_LEFT = ("SystemExit", "KeyboardInterrupt")  # says how it ended, not why


@dataclass(frozen=True, slots=True, kw_only=True)
class TextMatch:
    """A text and who told it; `origin` is None where it was only read from what the process wrote."""

    process: JobProcess
    found: re.Match[str]
    origin: RootException | None
    line: str

    @property
    def at_s(self) -> float:
        """Seconds since the job started."""
        return self.origin.at_s if self.origin is not None else ended_s(self.process)

    def locations(self, job: Job) -> tuple[str, ...]:
        """Returns the user's lines of the exception, best first; () where none is known."""
        found = locations_of(job, self.origin) if self.origin is not None else ()
        return tuple(line for line in found if "/bin/" not in line)  # the launcher's own script is no user's line

    def evidence(self, job: Job) -> tuple[Evidence, ...]:
        """Returns the text as proof, and the lines that led to it."""
        if self.origin is None:
            return (Evidence(source=f"output of process {self.process.pid}", observed=self.line[:SHOWN]),)
        own = Evidence(source=f"exception in process {self.origin.process.pid}", observed=self.line[:SHOWN])
        frames = self.origin.frames or self.origin.path
        return (own, *(path_evidence(job, "where it was raised", frames) or output_evidence(self.process)[:1]))


def match_text(
    job: Job, pattern: re.Pattern[str], processes: Sequence[JobProcess] | None = None
) -> tuple[TextMatch, ...]:
    """Returns what the processes at fault (or `processes`) told that fits `pattern`, by time, one a process."""
    asked = primary_failures(job) if processes is None else processes
    found = [one for process in asked if (one := _told(job, process, pattern)) is not None]
    return tuple(sorted(found, key=lambda one: one.at_s))


def failed_processes(job: Job) -> tuple[JobProcess, ...]:
    """Returns every process that failed or was ended, ranks first: also those that to_blame takes for victims."""
    ended = [one for one in job.processes if (one.failed or one.ended_by) and one.part is not ProcessRole.SHELL]
    return tuple(sorted(ended, key=lambda one: (one.rank is None, ended_s(one))))


def match_output(job: Job, pattern: re.Pattern[str]) -> re.Match[str] | None:
    """Returns the last line of the whole output that fits: for what shells and unwatched programs said."""
    for line in reversed(plain_lines(job.output)):
        if found := pattern.search(line):
            return found
    return None


def merged_locations(job: Job, tellers: Sequence[TextMatch], first: Sequence[str] = ()) -> tuple[str, ...]:
    """Returns `first`, then the lines of all `tellers`, each once."""
    return distinct([*first, *(line for one in tellers for line in one.locations(job))])


def _told(job: Job, process: JobProcess, pattern: re.Pattern[str]) -> TextMatch | None:
    reason = root_exception(job, process)
    if reason is not None:
        for text in filter(None, (reason.text, reason.before_text)):
            if found := pattern.search(text):
                return TextMatch(process=process, found=found, origin=reason, line=_line_of(found))
        if reason.type.rpartition(".")[2] not in _LEFT and not PASSED_ON.search(reason.type):
            return None
    return _handled_before_the_end(job, process, pattern) or _last_written(job, process, pattern)


def _handled_before_the_end(job: Job, process: JobProcess, pattern: re.Pattern[str]) -> TextMatch | None:
    """A caught exception of a process that then ended itself with an error: `except ...: log; sys.exit(1)`."""
    if process.end.signal is not None:
        return None
    caught = [
        one
        for one in process.raised
        if one.how
        in (
            ExceptionSource.LOGGED,
            ExceptionSource.PRINTED,
            ExceptionSource.CAUGHT,
            ExceptionSource.THREAD,
            ExceptionSource.WORKER,
        )
    ]
    for raised in reversed(caught[-3:]):
        if found := pattern.search(raised.text):
            return TextMatch(process=process, found=found, origin=of_raised(job, process, raised), line=_line_of(found))
    return None


def _last_written(job: Job, process: JobProcess, pattern: re.Pattern[str]) -> TextMatch | None:
    found = _last_fitting(_written(job, process), pattern)
    return (
        TextMatch(process=process, found=found, origin=None, line=found.string.strip()) if found is not None else None
    )


@functools.lru_cache(maxsize=64)  # many processes of one rank have one text
def _last_fitting(text: str, pattern: re.Pattern[str]) -> re.Match[str] | None:
    lines = plain_lines(text)[-LAST_LINES:]
    return next((found for line in reversed(lines) if (found := pattern.search(line))), None)


def _written(job: Job, process: JobProcess) -> str:
    if process.output.strip():
        return process.output
    if process.rank is not None and job.output_by_rank.get(process.rank):
        return job.output_by_rank[process.rank]
    return job.output if len(job.processes) <= 1 or process.part in (ProcessRole.LAUNCHER, ProcessRole.SHELL) else ""


def _line_of(found: re.Match[str]) -> str:
    """Returns the whole line of a text around what was found in it."""
    start = found.string.rfind("\n", 0, found.start()) + 1
    end = found.string.find("\n", found.end())
    return found.string[start : end if end >= 0 else None].strip()
