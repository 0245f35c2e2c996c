"""From a record to a verdict: loads what a job left, asks every signature, decides, and writes the report."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType

from diagnostics import diagnosis
from diagnostics.core.errors import USAGE_EXIT, DoctorError, UsageError, from_os_error
from diagnostics.core.failure_classes import JobOutcome
from diagnostics.core.files import write_whole
from diagnostics.core.findings import Confidence
from diagnostics.core.registry import BrokenPlugin, discover
from diagnostics.core.shell_quoting import pasteable
from diagnostics.diagnosis.masked_cause import as_it_failed, with_its_cause
from diagnostics.diagnosis.report_builder import build_report
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.diagnosis.state_selection import LastWord, last_word
from diagnostics.diagnosis.verdict import Diagnosis, arbitrate, exit_of
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.job.job_builder import JobInputs, build_job
from diagnostics.dynamic.job.job_from_logs import job_from_logs
from diagnostics.dynamic.job.stages import other_stages
from diagnostics.record.agent_bytes import AgentFileError
from diagnostics.record.record import BEFORE, RunRecord
from diagnostics.record.supervisor_facts import ATTACHED
from diagnostics.record.untrusted_files import read_output
from diagnostics.report import html_page
from diagnostics.report.page import json_text, markdown
from diagnostics.report.run_report import RunReport

HIDDEN = "-hidden"  # behind a code: asked about a failure that something hid
STAGE = "-stage-"  # behind a code: asked about one of several trainings that ran one after the other
TRAINED_BADLY = (JobOutcome.SILENT_WRONG, JobOutcome.SLOW)
NOTHING_IN_LOGS = "no failure stands in these logs, which does not prove that there was none"
CUT_SHORT = "the diagnosis was cut short, and {} known failures were not looked for"
AGAIN = ": ups-doctor diagnose FOLDER"  # that of the report
FROM_LOGS = "no record: all this is read from log files, so nothing is more than likely"


@dataclass(slots=True)
class Questioning:
    """What is known of the signatures' answers before and while they are asked; see with_deadline.py."""

    # By code, with BEFORE behind it where it was asked about the state before the first signal.
    answers: Mapping[str, Match | None] = field(default_factory=dict)  # from an earlier attempt
    left_out: Mapping[str, str] = field(default_factory=dict)  # why it is not asked again
    earlier: Mapping[str, Match | None] = field(default_factory=dict)  # what stands for one that is not asked
    closed: str = ""  # why no further one is asked
    tell: Callable[[str, str, Match | None], None] = lambda what, code, match: None  # "asking" or "answered"

    def why_not(self, question: str) -> str:
        """Why this signature is not asked; "" where it is."""
        return "" if question in self.answers else self.left_out.get(question, self.closed)

    def ask(self, question: str, module: ModuleType, job: Job) -> Match | None:
        """Returns its answer. Raises what it raises."""
        if question in self.answers:
            return self.answers[question]
        self.tell("asking", question, None)
        match: Match | None = module.match(job)
        self.tell("answered", question, match)
        return match


def diagnose(
    folder: Path, *, provisional: bool = False, strict: bool = False, write_to: Path | None = None
) -> RunReport:
    """Returns the report about the job whose report or record folder this is, and writes it down.

    report.json and report.md go into `write_to`, by default the report's folder. `provisional`: the job still
    runs. Raises DoctorError where the folder is no record, OSError where the report cannot be written.
    """
    report = examine(folder, provisional=provisional, strict=strict)
    write_report(report, write_to or (folder.parent if folder.name == "record" else folder))
    return report


def examine(
    folder: Path, *, provisional: bool = False, strict: bool = False, asking: Questioning | None = None
) -> RunReport:
    """Returns the report about the job whose report or record folder this is. Raises DoctorError for no record."""
    began = time.monotonic()
    record = RunRecord.load(record_folder(folder))
    if record.job is None and not record.agents:
        reasons = "; ".join(f"{one.name}: {one.reason}" for one in record.unreadable[:3])
        raise DoctorError(
            f"{folder} holds no record of a job" + (f" ({reasons})" if reasons else ""),
            hint="name the folder that `ups-doctor run` made: reports/<time>-run/",
            exit_code=USAGE_EXIT,
        )
    return examine_record(record, provisional=provisional, strict=strict, asking=asking, began=began)


def examine_record(
    record: RunRecord,
    *,
    provisional: bool = False,
    strict: bool = False,
    asking: Questioning | None = None,
    began: float | None = None,
) -> RunReport:
    """Returns the report about a job whose record has been read."""
    began = time.monotonic() if began is None else began
    provisional |= record.job is not None and record.job.ended_by == ATTACHED
    job = job_from_record(record, ended=not provisional)
    return _report(job, record, began, provisional=provisional, strict=strict, asking=asking)


def examine_logs(files: Sequence[Path], *, asking: Questioning | None = None) -> RunReport:
    """Returns what the logs of a job that nobody watched support, at most likely. Raises UsageError, DoctorError."""
    began = time.monotonic()
    texts = {}
    for file in files:
        try:
            texts[str(file)] = read_output(file)
        except AgentFileError as error:
            raise UsageError(f"{file}: {error}", hint="name the log files of the job") from error
        except OSError as error:
            refused = from_os_error(error, action="cannot read the log", path=file)
            raise UsageError(refused.message, hint=refused.hint) from error
    job = job_from_logs(texts, str(Path.cwd()))
    record = RunRecord(folder=Path(), agents=(), faults={}, unreadable=())
    report = _report(job, record, began, surest=Confidence.LIKELY, gaps=(FROM_LOGS,), asking=asking)
    if report.outcome is not JobOutcome.OK:
        return report
    for name, text in texts.items():
        if _is_no_text(text):
            raise UsageError(
                f"{name} is no text, and a log was expected", hint=f"see what it is: file {pasteable(name)}"
            )
    return replace(report, confidence=Confidence.POSSIBLE, notes=(*report.notes, NOTHING_IN_LOGS))


def _is_no_text(text: str) -> bool:
    """Whether a tenth of it and more are zero bytes or no UTF-8, as in a log of a machine that fell over, too."""
    return sum(map(text.count, "\0\ufffd")) * 10 > len(text)


def write_report(report: RunReport, folder: Path) -> str:
    """Writes report.json, then report.md, each whole or not at all, then report.html, if it can be.

    Returns "" or why there is no report.html. Raises OSError for the other two.
    """
    text = json_text(report)
    write_whole(folder / "report.json", text)
    write_whole(folder / "report.md", markdown(report))
    return html_page.write_run_page(report, text, folder)


def record_folder(folder: Path) -> Path:
    """Returns the record below a report's folder, or the folder itself. Raises DoctorError for no folder."""
    if not folder.is_dir():
        if folder.exists():
            raise UsageError(
                f"{folder} is a file, a folder was expected", hint=f"look at it: ls -l {pasteable(folder)}"
            )
        raise UsageError(
            f"cannot read {folder}: no such file or folder", hint=f"check the spelling: ls {folder.parent}"
        )
    inner = folder / "record"
    try:
        is_link, is_folder = inner.is_symlink(), inner.is_dir()
    except OSError as error:
        refused = from_os_error(error, action="cannot read", path=inner)
        raise UsageError(refused.message, hint=refused.hint) from error
    if is_link:
        raise DoctorError(
            f"{inner} is a link; a record is read where it lies", hint=f"see where it leads: ls -l {inner}"
        )
    return inner if is_folder else folder


def job_from_record(record: RunRecord, *, ended: bool = True) -> Job:
    """Returns the Case that a record makes."""
    material = JobInputs(
        job=record.job,
        agents=record.agents,
        faults=record.faults,
        outputs=record.outputs,
        captures=record.captures,
        sources=record.sources,
        flights=record.flight_entries,
        frames=record.frames,
        prints=record.prints,
    )
    return build_job(material, ended=ended)


def ask(
    job: Job, *, running: bool = False, asking: Questioning | None = None, about: str = ""
) -> tuple[list[Match], list[str]]:
    """Returns what the signatures say about the job, and which of them could not be asked, in words.

    `about` is BEFORE where the job is that of an earlier state, of which the same signatures have other answers.
    """
    asking = asking or Questioning()
    wanted = {AppliesTo.ANY, AppliesTo.FAILED if running or job.failed else AppliesTo.SUCCEEDED}
    matches, troubles = _asked(job, wanted, asking, about)
    for masked in [one for one in matches if one.hidden_by]:
        causes, more = _asked(as_it_failed(job, masked), {AppliesTo.FAILED}, asking, about + HIDDEN)
        matches = [with_its_cause(one, causes) if one is masked else one for one in matches]
        troubles += more
    if not running and not job.failed:
        for number, stage in enumerate(other_stages(job), start=1):
            told, more = _asked(stage, wanted, asking, f"{about}{STAGE}{number}")
            matches += [one for one in told if one.is_root and one.outcome in TRAINED_BADLY]
            troubles += more
    return matches, troubles


def _asked(job: Job, wanted: Collection[AppliesTo], asking: Questioning, about: str) -> tuple[list[Match], list[str]]:
    broken: list[BrokenPlugin] = []
    plugins: Mapping[str, ModuleType] = discover(diagnosis, broken=broken)
    troubles = [f"signature {one.name}: {type(one.error).__name__}: {one.error}" for one in broken]
    matches: list[Match] = []
    for code, module in plugins.items():
        if module.EXAMINES not in wanted:
            continue
        if (why := asking.why_not(code + about)) and code + about in asking.earlier:
            matches += filter(None, [asking.earlier[code + about]])
            continue
        if why:
            troubles.append(f"signature {code} {module.NAME}: {why}")
            continue
        try:
            match = asking.ask(code + about, module, job)
        except Exception as error:  # a signature that crashes costs its own answer, never the report
            troubles.append(f"signature {code} {module.NAME}: {type(error).__name__}: {error}")
            continue
        if match is not None:
            matches.append(match)
    return matches, troubles


def _report(
    job: Job,
    record: RunRecord,
    began: float,
    *,
    provisional: bool = False,
    strict: bool = False,
    surest: Confidence = Confidence.CONFIRMED,
    gaps: Sequence[str] = (),
    asking: Questioning | None = None,
) -> RunReport:
    troubles: list[str] = []

    def decide_on(state: Job, running: bool) -> Diagnosis:
        matches, broken = ask(state, running=running, asking=asking, about="" if running is provisional else BEFORE)
        troubles.extend(broken)
        return arbitrate(state, [_at_most(surest, match) for match in matches])

    kept = None if provisional else record.before()
    before = job_from_record(kept, ended=False) if kept is not None else None
    word = last_word(job, before, decide_on) if not provisional else LastWord(decision=decide_on(job, True), state=job)
    report = build_report(
        job,
        record,
        word.decision,
        exit_of(job, word.decision, strict=strict, stopped=word.stopped),
        state=word.state,
        provisional=provisional,
        troubles=list(dict.fromkeys([*gaps, *troubles])),
        began=began,
        now_s=time.time(),
    )
    unasked = sum(one.endswith(asking.closed) for one in troubles) if asking is not None and asking.closed else 0
    if not unasked:
        return report
    again = AGAIN if record.job is not None or record.agents else ""
    return replace(report, notes=(CUT_SHORT.format(unasked) + again, *report.notes))


def _at_most(surest: Confidence, match: Match) -> Match:
    if surest is Confidence.CONFIRMED or match.finding.confidence is not Confidence.CONFIRMED:
        return match
    return replace(match, finding=replace(match.finding, confidence=surest))
