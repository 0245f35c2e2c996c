"""A run that was resumed began anew: its counter went back, or its optimizer was not restored.

What it does: knows which checkpoint was read before the first step, what stands in it (an epoch or step, the state of
an optimizer), and what was written over the same file later. Where the number that is written is below the one that was
read, or the file held the state of an optimizer and none was ever restored, the run did not go on where it had ended.

Why it matters: schedule, data order and the number of epochs begin anew on trained weights, or Adam begins without its
moments: the loss jumps, and the checkpoint that was good is overwritten. Left alone: a file that is read and not
written again, as one that is fine-tuned from; what is read after the first step.

Fix: restore all that was saved: model, optimizer, scheduler, epoch or step, in one function next to the one that saves.
"""

from __future__ import annotations

from diagnostics.core.findings import Confidence, Evidence
from diagnostics.diagnosis.mark_match import Told, training_match
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.dynamic.replicas.restored_optimizers import RESTORED
from diagnostics.dynamic.replicas.source_lines import own
from diagnostics.record.training_marks import ReadState, SavedFile

CODE = "D915"
NAME = "resumed-from-the-start"
CLASS = "checkpoint-not-loaded"
EXAMINES = AppliesTo.SUCCEEDED


def match(job: Job) -> Match | None:
    """Returns the rank that overwrote what it had read with an earlier state."""
    found = [(one, saved) for process in job.ranks for one, saved in _of_rank(process)]
    if not found:
        return None
    first, saved = found[0]
    mark, process = first.mark, first.process
    read, written = own(process, mark.path)[:1], own(process, saved.path)[:1]
    at = f" at {job.line(read[0])}" if read else ""
    name = mark.file.rpartition("/")[2]
    if _went_back(mark, saved):
        title = f"{name} was read{at} with {mark.counter} in it and is overwritten with {saved.counter}: the run that "
        title += "was resumed began anew"
        observed, expected = f"{mark.counter} read, {saved.counter} written", "a larger number"
    else:
        title = (
            f"{name} was read{at} with the state of an optimizer in it, and no optimizer was given it: the run that "
        )
        title += "was resumed goes on with a fresh one"
        observed, expected = "optimizer.load_state_dict was never called", "called with what is in the file"
    return training_match(
        job,
        [one.process for one, _ in found],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=title,
        evidence=[Evidence(source=mark.file, observed=observed, expected=expected)],
        fix="restore all that is saved: model, optimizer, scheduler, and the epoch or step to go on from",
        places=(*read, *written),
        confidence=Confidence.LIKELY,
    )


def _of_rank(process: JobProcess) -> list[tuple[Told[ReadState], SavedFile]]:
    """Returns the files that were read first and written again later, with the first such write after some step."""
    saves = [mark for mark in process.prints.marks_of(SavedFile) if mark.step]
    restored = process.agent is not None and process.agent.last_event(RESTORED) is not None
    found = []
    for mark in process.prints.marks_of(ReadState):
        saved = next((one for one in saves if one.file == mark.file), None)
        if saved is not None and (_went_back(mark, saved) or (mark.optimizer and not restored)):
            found.append((Told(process, mark), saved))
    return found[:1]


def _went_back(mark: ReadState, saved: SavedFile) -> bool:
    return mark.counter is not None and saved.counter is not None and saved.counter < mark.counter
