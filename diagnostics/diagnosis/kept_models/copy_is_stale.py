"""What is evaluated is a copy of the model from before the training: its weights never changed.

What it does: compares a few numbers of a model that only ever computes without gradients, in rounds between the steps,
with those of the model that learns: the same names and shapes, the weights that the learner had before its first step,
unchanged over three rounds and more, while the learner itself is never evaluated.

Why it matters: the score says nothing about the training. Best checkpoints, early stops and schedules follow the noise
of a model that nobody trains. Where the copy is an average of the weights, what feeds it holds other parameters than
those that learn: a list that was made before `fully_shard`, or before the model was built anew.

Left alone: teachers and targets, which compute in each step; copies that are evaluated beside the model as a measure;
averages that begin late, from their first change on; models on a device.

Fix: evaluate the model itself, or copy its weights over before each evaluation.

Bad:

    self.model = copy.deepcopy(model)      # once, before the training
    ...
    score = evaluate(self.model)

Good:

    self.model.load_state_dict(model.state_dict())
    score = evaluate(self.model)
"""

from __future__ import annotations

import re

from diagnostics.core.findings import Confidence, Evidence
from diagnostics.diagnosis.mark_match import latest, nearest, training_match
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.dynamic.replicas.source_lines import own, text_of
from diagnostics.record.marks.model_marks import CopyIsStale

CODE = "D945"
NAME = "copy-is-stale"
CLASS = "state-not-kept"
EXAMINES = AppliesTo.SUCCEEDED

_COPIES = re.compile(r"\bdeepcopy\(")
_KEPT = re.compile(
    r"(?<![=!<>])= ?(?:list|tuple|dict|sorted)\(.{0,80}\bnamed_parameters\(|= ?(?:list|tuple)\(.{0,80}parameters\(|"
    r"= ?\[.{0,80}\bin\b.{0,80}parameters\("
)
_JUDGES = re.compile(
    r"eval|valid|test|score|accuracy|metric|error|sampl|infer|predict|monitor|benchmark", re.IGNORECASE
)


def match(job: Job) -> Match | None:
    """Returns the ranks that evaluate such a copy."""
    found = [one for one in latest(job, CopyIsStale, lambda mark: mark.model) if _is_judged(job, one.process, one.mark)]
    if not found:
        return None
    process, mark = found[0].process, found[0].mark
    judged = own(process, mark.path)
    kept = nearest(job, process, _KEPT, judged)[:1] if mark.written else ()
    copied = nearest(job, process, _COPIES, judged)[:1]
    made = f", copied at {job.line(copied[0])}" if copied else ""
    why = (
        "what is written into it is always what it holds: it is fed from other parameters than those that learn"
        if mark.written
        else "nothing is copied into it"
    )
    return training_match(
        job,
        [one.process for one in found],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"What is evaluated at {job.line(judged[0])} is a {mark.root}{made}, that still has the weights of "
        f"before the training: {why}",
        evidence=[
            Evidence(
                source=f"weights of the {mark.root} that is evaluated, over {mark.steps} steps",
                observed=f"the same in {mark.rounds} rounds: those that the model had before its first step",
                expected="those of the model that learns, or an average of them",
            )
        ],
        fix="feed the average from the parameters that the optimizer holds: make it after the model is wrapped or "
        "sharded, and read model.parameters() anew in each update"
        if mark.written
        else "evaluate the model that is trained, or load its state_dict() into the copy before each evaluation",
        places=(*kept, *copied, *judged[:2]),
        confidence=Confidence.LIKELY,
    )


def _is_judged(job: Job, process: JobProcess, mark: CopyIsStale) -> bool:
    """Whether the code says that it measures: a teacher's targets may be computed in rounds as well."""
    path = own(process, mark.path)
    return bool(path) and any(_JUDGES.search(f"{one.function} {text_of(job, one)}") for one in path[:3])
