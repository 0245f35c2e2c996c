"""From the ends of all ranks to one Failure. Pure.

What ranks left, without the frames of the doctor's own code, which records constructors and calls from between.

One Trial from what the ranks of one run left, and one from several runs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from diagnostics.bisection.case import Configuration
from diagnostics.bisection.failure_identity import normalised_message, place_of, wait_of
from diagnostics.bisection.trial import PHASES, Failure, FailureKind, Trial
from diagnostics.bisection.tries.rank_runs import RankRun, out_of_time
from diagnostics.bisection.tries.trial_answers import TrialAnswer
from diagnostics.bisection.tries.tries_file import read_node
from diagnostics.core.frame import Frame
from diagnostics.core.own_folders import AGENT, CHILDREN
from diagnostics.core.redaction import text
from diagnostics.core.redaction import text as without_secrets
from diagnostics.record.agent_data import AgentData, Construction
from diagnostics.record.stacks import FaulthandlerLog

OURS = (str(CHILDREN), str(AGENT))
_FOLDERS = tuple(f"{folder}/" for folder in OURS)

IMPORT = PHASES[0]
SAME_TIME_S = 0.05  # ranks that end this close to each other ended at once: the lower one is named
NO_MEMORY = re.compile(
    r"can't allocate memory|cannot allocate memory|std::bad_alloc|out of memory|OutOfMemoryError|^MemoryError",
    re.IGNORECASE,
)
_PHASES_OF = {"loss": "loss", "gradient": "backward", "parameter": "optimizer"}
# What C++ says before it aborts; glibc's words about a broken heap differ from run to run and are left out.
_ABORTED = re.compile(
    r"^[^\S\n]*what\(\):[^\S\n]*(.+)$|^[^\n`]*: (Assertion `.+' failed)\.?$|^(std::bad_alloc)$", re.MULTILINE
)


def failure_of(runs: Sequence[RankRun], *, cwd: str) -> Failure | None:
    """Returns how the run failed, None where every rank came to its end with numbers that are right."""
    acted = [run for run in runs if run.acted]
    if acted:
        return _first_alike(acted, cwd)
    if out_of_time(runs):
        return _hang(runs, cwd)
    lost = [run for run in runs if not run.done and not run.end.ended]
    if lost:
        return _first_alike(lost, cwd)
    return _nonfinite(runs) or _disagreement(runs)


def fault_of_ours(runs: Sequence[RankRun]) -> str:
    """Returns the words of an exception that neither the user's code nor a library raised, "" where there was none."""
    for run in runs:
        if run.error is not None and run.error.type != "SystemExit" and not run.error.frames and run.acted:
            return f"{run.error.type}: {run.error.message}\n{run.error.traceback}"
        if run.answer is None and run.end.returncode == 1 and run.acted:
            return run.end.stderr
    return ""


def _first_alike(runs: Sequence[RankRun], cwd: str) -> Failure:
    """Returns the failure that came first, with every rank that failed like that."""
    soonest = min(run.end.seconds for run in runs)
    first = min((run for run in runs if run.end.seconds <= soonest + SAME_TIME_S), key=lambda run: run.rank)
    failure = _of_rank(first, cwd)
    ranks = tuple(run.rank for run in runs if _of_rank(run, cwd).same_as(failure))
    return replace(failure, ranks=ranks)


def _of_rank(run: RankRun, cwd: str) -> Failure:
    error, end = run.error, run.end
    if run.killed:
        said = _ABORTED.findall(end.stderr) if run.killed == "SIGABRT" else []
        message = next(filter(None, said[-1]), "") if said else ""
        kind = FailureKind.MEMORY if NO_MEMORY.search(message) else FailureKind.SIGNAL
        place = _place(run.fault_frames or run.leaving_frames, cwd)
        if kind is FailureKind.MEMORY:  # the same limit shows in many ways
            return _built(run, kind, "", "", place, _stack_text(run))
        return _built(run, kind, run.killed, message, place, _stack_text(run))
    if error is not None and error.type != "SystemExit":
        said_it = f"{error.type}: {error.message}"
        kind = FailureKind.MEMORY if NO_MEMORY.search(said_it) else FailureKind.EXCEPTION
        detail, message = ("", "") if kind is FailureKind.MEMORY else (error.type, error.message)
        return _built(run, kind, detail, message, _place(error.frames, cwd), error.traceback or said_it)
    uncaught = end.exception if error is None else None
    if uncaught is not None:
        name, _, message = uncaught.text.partition(": ")
        return _built(run, FailureKind.EXCEPTION, name, message, _place(uncaught.path, cwd), uncaught.text)
    frames = error.frames if error is not None and error.frames else run.leaving_frames
    detail = f"exit code {end.returncode}"
    return _built(run, FailureKind.EXIT, detail, "", _place(frames, cwd), end.stderr)


def _built(run: RankRun, kind: FailureKind, detail: str, message: str, place: str, text: str) -> Failure:
    phase, step = _phase(run)
    module, module_class = _module(run)
    return Failure(
        kind=kind,
        detail=detail,
        message=normalised_message(without_secrets(message)),
        places=(place,) if place else (),
        phase=phase,
        step=step,
        module=module,
        module_class=module_class,
        ranks=(run.rank,),
        text=without_secrets(text),
    )


def _hang(runs: Sequence[RankRun], cwd: str) -> Failure:
    """Returns the places of the ranks that keep the others waiting: in no communication, or in one of their own."""
    timed_out = [run for run in runs if run.end.timed_out]
    stuck = [run for run in timed_out if not run.done] or timed_out
    first = min(wait_of(run.fault_frames, ours=OURS).value for run in stuck)
    found = [run for run in stuck if wait_of(run.fault_frames, ours=OURS).value == first]
    places = {_place(run.fault_frames, cwd, moving=True) for run in found} - {""}
    texts = [f"rank {run.rank}:\n{_stack_text(run)}" for run in timed_out]
    failure = _built(found[0], FailureKind.HANG, "", "", "", "\n".join(texts))
    return replace(failure, places=tuple(sorted(places)), ranks=tuple(run.rank for run in found))


def _nonfinite(runs: Sequence[RankRun]) -> Failure | None:
    """Returns the first thing that is no number: a loss before a gradient or a parameter, whose names an edit moves."""
    found = [run for run in runs if run.answer is not None and run.answer.nonfinite]
    if not found:
        return None
    of_loss = [run for run in found if run.answer is not None and run.answer.nonfinite == "loss"]
    told = of_loss or found
    answer = told[0].answer or TrialAnswer()
    what = answer.nonfinite.split(" ")[0]
    return Failure(
        kind=FailureKind.NONFINITE,
        detail=what,
        phase=_PHASES_OF.get(what, ""),
        step=answer.nonfinite_step,
        ranks=tuple(run.rank for run in told),
        text=f"{answer.nonfinite} is not finite",
    )


def with_origin(failure: Failure, runs: Sequence[RankRun], *, cwd: str) -> Failure:
    """Returns the failure with what runs tell that looked for the module that first made what is no number."""
    answers = [run.answer for run in runs if run.answer is not None and run.answer.nonfinite_frames]
    if not answers:
        return failure
    module, place = answers[0].nonfinite_module, _place(answers[0].nonfinite_frames, cwd)
    made = " ".join(filter(None, ("first made", f"by {module}" if module else "", f"at {place}" if place else "")))
    return replace(failure, module=module, text=f"{failure.text}; {made}")


def _disagreement(runs: Sequence[RankRun]) -> Failure | None:
    for what in ("gradients", "parameters"):
        digests = {getattr(run.answer, what) for run in runs if run.answer is not None}
        if len(digests) > 1 and "" not in digests:
            said = ", ".join(f"rank {run.rank}: {getattr(run.answer, what)[:12]}" for run in runs)
            phase = "backward" if what == "gradients" else "optimizer"
            ranks = tuple(run.rank for run in runs)
            text = f"the {what} differ between ranks; digests: {said}"
            return Failure(kind=FailureKind.DISAGREE, detail=what, phase=phase, ranks=ranks, text=text)
    return None


def _place(frames: Sequence[Frame], cwd: str, *, moving: bool = False) -> str:
    return place_of(frames, cwd=cwd, ours=OURS, moving=moving)


def _phase(run: RankRun) -> tuple[str, int]:
    """Returns phase and step, "" where the phase is none of those that a model goes through."""
    if run.error is not None:
        phase, step = run.error.phase, run.error.step
    else:
        phase, step = (run.answer.phase, run.answer.step) if run.answer is not None else ("", 0)
    return phase if phase in PHASES else "", step


def _module(run: RankRun) -> tuple[str | None, str]:
    if run.error is not None:
        return run.error.module, run.error.module_class
    death = run.end.death()
    if death is None or death.module is None:
        return None, ""
    return death.module.path, death.module.class_name


def _stack_text(run: RankRun) -> str:
    report = run.end.fault
    lines = [f"{frame.file}:{frame.line} {frame.function}" for frame in run.fault_frames]
    return "\n".join([report.error, *lines]) if report is not None else "\n".join(lines) or run.end.stderr


def agent_without_ours(agent: AgentData) -> AgentData:
    """Returns the agent's file with call paths that hold the user's and the libraries' frames only."""
    return replace(agent, constructions=tuple(_construction(one) for one in agent.constructions))


def report_without_ours(report: FaulthandlerLog) -> FaulthandlerLog:
    """Returns the stacks of all threads without our frames."""
    threads = (replace(thread, frames=_told(thread.frames)) for thread in report.threads)
    return replace(report, threads=tuple(threads))


def _construction(one: Construction) -> Construction:
    path = _told(one.path)
    own = one.own
    if not own and path:  # where our constructor stood in for the class's own, whose frame is still there
        own = int(path[0].function.rpartition(".")[0].rpartition(".")[2] == one.class_name)
    return replace(one, path=path, own=own)


def _told(frames: Iterable[Frame]) -> tuple[Frame, ...]:
    return tuple(frame for frame in frames if not frame.file.startswith(_FOLDERS))


def trial_of(case: Configuration, runs: Sequence[RankRun], seconds: float) -> Trial:
    """Returns what one run gave."""
    answers = [run.answer for run in runs if run.answer is not None]
    refused = next((answer for answer in answers if answer.refusal and not _only_here(answer, answers)), None)
    failure = failure_of(runs, cwd=str(Path.cwd())) if refused is None else None
    tree = next((answer.tree for answer in answers if answer.tree), ())
    return Trial(
        case=case,
        failure=failure,
        refusal=text(refused.refusal) if refused is not None else "",
        hint=text(refused.hint) if refused is not None else "",
        seconds=round(seconds, 3),
        failed=int(failure is not None),
        tree=tuple(read_node(node) for node in tree),
        torch=answers[0].torch if answers else "",
    )


def _only_here(refused: TrialAnswer, answers: Sequence[TrialAnswer]) -> bool:
    """Returns whether an import that raised in one rank came to its end in another: a failure, and no wrong use."""
    return refused.error is not None and any(one.finished or one.phase != IMPORT for one in answers)


def one_verdict(runs: Sequence[Trial], sought: Failure | None) -> Trial:
    """Returns one trial for all runs: of several ways to fail the one that is sought, else the most frequent."""
    failures = [run.failure for run in runs if run.failure is not None]
    wanted = [failure for failure in failures if sought is not None and failure.same_as(sought)]
    shown = wanted[0] if wanted else max(failures, key=lambda one: sum(map(one.same_as, failures)), default=None)
    first = next((run for run in runs if run.refusal or (shown is not None and run.failure is shown)), runs[0])
    return replace(
        first,
        failure=shown,
        seconds=round(sum(run.seconds for run in runs) / len(runs), 3),
        runs=len(runs),
        failed=sum(shown.same_as(failure) for failure in failures) if shown is not None else 0,
        tree=max((run.tree for run in runs), key=len),
    )
