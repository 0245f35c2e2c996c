"""The job says success, and no optimizer step was made on any rank.

What it does: where an optimizer was made and neither a backward pass nor an optimizer step followed anywhere, names the
loader that was empty, or the epoch loop that did not run (a resumed epoch that is the last one, an early return).

Why it matters: the checkpoint that is written is the initial one. Runs that only evaluate make no optimizer.

Fix: check len(loader) before the loop, drop_last, filters of the dataset, and the epoch that a checkpoint resumes at.
"""

from __future__ import annotations

from diagnostics.analysis.agent_facts import Event, Frame
from diagnostics.analysis.blame import distinct, source_evidence
from diagnostics.analysis.case import Case, ProcessStory
from diagnostics.analysis.hidden_errors import asked_for_no_training, hidden_error
from diagnostics.analysis.try_blocks import trainers, training_loops
from diagnostics.analysis.user_code import user_frames
from diagnostics.analysis.user_files import user_files
from diagnostics.findings import Confidence, Evidence, Fix
from diagnostics.matches import Examines, JobOutcome, Match
from diagnostics.signatures.blamed import blamed

CODE = "D410"
NAME = "nothing-trained"
CLASS = "zero-progress"
EXAMINES = Examines.SUCCEEDED


def match(case: Case) -> Match | None:
    """Returns the job that trained nothing, where every rank was watched and meant to train."""
    ranks = [story for story in case.ranks if story.agent is not None]
    if not ranks or len(ranks) != len(case.ranks) or any(_worked(story) for story in case.processes):
        return None
    begun = [story for story in ranks if _made(story, "optimizer") is not None]
    if not begun or asked_for_no_training(case, begun[0]):
        return None
    if any(hidden_error(case, story) is not None for story in ranks):
        return None  # an exception explains it better
    story = begun[0]
    loops = _loops(case, story)
    if not loops:
        return None  # no file of the job's holds a loop that trains: nothing says that it was to
    iterated = _made(story, "loader-iter")
    loader = _frame(story, _made(story, "dataloader"))
    if iterated is not None:
        at = _frame(story, iterated)
        frames, cause = [loader, at, *loops], "the loader gave no batch"
    else:
        frames, cause = [*loops, loader], "the training loop was never entered"
    locations = distinct([case.line(frame) for frame in frames if frame is not None])
    return blamed(
        case,
        begun,
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"The job says success, but no rank made an optimizer step: {cause} ({locations[0]})",
        evidence=[
            Evidence(source="optimizer steps and backward passes of every rank", observed="0 and 0", expected="more"),
            *(source_evidence(case, frames[0]) if frames[0] is not None else ()),
        ],
        fix=Fix(
            text="check how many samples filters and drop_last leave, and stop with an error at len(loader) == 0"
            if iterated is not None
            else "check the range of the loop (a resumed epoch, a step limit) and the returns before it"
        ),
        locations=locations,
        confidence=Confidence.LIKELY,
        outcome=JobOutcome.SILENT_WRONG,
    )


def _worked(story: ProcessStory) -> bool:
    return story.agent is not None and (story.agent.steps.count > 0 or story.agent.steps.backwards > 0)


def _made(story: ProcessStory, kind: str) -> Event | None:
    """Returns the first event of a kind."""
    events = story.agent.events if story.agent is not None else ()
    return next((event for event in events if event.kind == kind), None)


def _frame(story: ProcessStory, event: Event | None) -> Frame | None:
    folder = story.agent.agent_folder if story.agent is not None else ""
    frames = user_frames(event.path, agent_folder=folder) if event is not None else ()
    return frames[0] if frames else None


def _loops(case: Case, story: ProcessStory) -> list[Frame]:
    """Returns the training loops in the files that ran, outermost first."""
    files = user_files(case, story)
    trained_by = trainers(file for _, file in files)
    return [
        Frame(file=name, line=loop.lineno, function="")
        for name, file in files
        for loop in training_loops(file, trained_by)
    ]
