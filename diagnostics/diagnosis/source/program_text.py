"""A job ended well, and its source says that it trained wrongly: what no print of it shows, a rule of the audit reads.

What it does: asks the rules of `ups-doctor audit` that have a RUN_CLASS about the Python files that a training job ran.
These are about what leaves no trace on the host: which samples a split takes, what a schedule counts, which state a
checkpoint lacks. Told where some rank trained; of rules about runs that go on, where a state was read, and of those
about what ranks do to each other, where there were several. Left alone: classes and functions that no file names.

Why it matters: nothing failed and every number looks possible, so nobody looks again. What was measured comes first:
this is left out where anything else is known of the same ranks. It is likely at most, since a text is no measurement.

Fix: that of the rule, which `ups-doctor explain CODE` has in full.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from types import ModuleType

from diagnostics.audit import engine, run
from diagnostics.audit.found import Found
from diagnostics.core.findings import Confidence, Evidence, Severity
from diagnostics.core.frame import Frame
from diagnostics.diagnosis.mark_match import runs_on, training_match
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.dynamic.job.job_sources import job_sources
from diagnostics.record.training_marks import ReadState
from diagnostics.static.program.project_file import FileKind, ProjectFile

CODE = "D961"
NAME = "program-text-says-so"
CLASS = "wrong-loss"  # of the rule, where one has another
EXAMINES = AppliesTo.SUCCEEDED

LEAST_STEPS = 2  # of a job that trains
QUESTION_S = 5.0  # CPU time of one rule about one file
RESUMED = "resumed"  # RUN_WHEN of rules about runs that go on from a state
SEVERAL = "several"  # of rules about what is another thing in each process: several ranks, or a run that goes on
RANKS = "ranks"  # of rules about what ranks do to each other
_RESTORED = "optimizer-restored"  # the event of a state that was read into an optimizer
# Words of programs that find their parts by texts.
_BY_TEXT = frozenset(["instantiate", "import_module", "entry_points", "locate"])


def match(job: Job) -> Match | None:
    """Returns the first thing that the rules find in the files of a job that trained."""
    trained = [one for one in job.ranks if one.steps >= LEAST_STEPS]
    if runs_on(job) or not trained:
        return None
    resumed = any(map(_goes_on, job.ranks))
    ranks = len(job.ranks) > 1
    held = {RESUMED: resumed, SEVERAL: resumed or ranks, RANKS: ranks}
    rules = _rules({"", *(when for when, holds in held.items() if holds)})
    found = _found(job, rules)
    return _told(job, trained, found, rules[found.code]) if found is not None else None


def _goes_on(process: JobProcess) -> bool:
    """Whether a rank read the state of a training: by torch.load, or in another way into its optimizer."""
    read = process.agent is not None and process.agent.last_event(_RESTORED) is not None
    return read or bool(process.prints.marks_of(ReadState))


def _rules(when: Collection[str]) -> Mapping[str, ModuleType]:
    """Returns the rules that may speak of such a run."""
    return {code: rule for code, rule in _of_runs().items() if getattr(rule, "RUN_WHEN", "") in when}


@functools.cache
def _of_runs() -> Mapping[str, ModuleType]:
    return {code: rule for code, rule in run.rules_of_files().items() if getattr(rule, "RUN_CLASS", "")}


def _found(job: Job, rules: Mapping[str, ModuleType]) -> Found | None:
    """Returns an error before a warning; of several, the first by place."""
    files = [
        ProjectFile(name, file.text.encode("utf-8", "surrogatepass"), FileKind.PYTHON)
        for name, file in job_sources(job)
    ]
    heard = engine.audit(files, rules, limit_s=QUESTION_S).found
    sure = [one for one in heard if one.hit.confidence is not Confidence.POSSIBLE and _takes_part(one, files)]
    return min(sure, key=lambda one: one.severity is not Severity.ERROR, default=None)


def _takes_part(found: Found, files: Sequence[ProjectFile]) -> bool:
    """Whether the class or function that a finding is in is named anywhere else: a file may hold what no run uses."""
    body = found.hit.file.tree.body if found.hit.file.tree is not None else []
    around = next((one for one in body if one.lineno <= found.hit.line <= (one.end_lineno or 0)), None)
    if not isinstance(around, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)) or around.decorator_list:
        return True
    inside = {id(one) for one in ast.walk(around)}
    return any(
        not _BY_TEXT.isdisjoint(file.words) or any(_names(one, around.name) and id(one) not in inside for one in nodes)
        for file in files
        for nodes in ([*ast.walk(file.tree)] if file.tree is not None and around.name in file.words else [],)
    )


def _names(node: ast.AST, name: str) -> bool:
    """Whether a node stands for something of this name; an import alone does not."""
    if isinstance(node, ast.Constant):
        return node.value == name
    return getattr(node, "id", "") == name or getattr(node, "attr", "") == name


def _told(job: Job, trained: Sequence[JobProcess], found: Found, rule: ModuleType) -> Match:
    hit = found.hit
    here, steps = _frame(hit.file.place(hit.line)), [(_frame(one.place), one.text) for one in hit.steps]
    told = training_match(
        job,
        trained,
        code=CODE,
        name=NAME,
        failure_class=rule.RUN_CLASS,
        title=f"By the source (rule {found.code}, not measured): {hit.title}",
        evidence=[Evidence(source=job.line(frame), observed=text) for frame, text in steps],
        fix=hit.fix,
        places=list(dict.fromkeys([here, *(frame for frame, _ in steps)])),
        confidence=Confidence.LIKELY,
    )
    return replace(told, generic=True)  # what was measured of these ranks comes first


def _frame(place: str) -> Frame:
    """Returns the frame of "train.py:12"."""
    file, _, line = place.rpartition(":")
    return Frame(file=file, line=int(line), function="")
