"""What was saved is not what was trained: no parameter in the file was ever in an optimizer.

What it does: looks, at each torch.save of a training, which parameters the saved tensors are, by name and by value.
Told where a file holds parameters of a model alone that is trained, and no optimizer that made a step ever held one of
them, while it held others of that model.

Why it matters: an adapter, a head, a prompt was meant to learn. It was frozen with the rest, or made after the list of
parameters, and something small beside it learnt in its place: the loss goes down a little, the file has the right names
and sizes, and holds what it began with. Left alone: files in which anything was trained, models that nothing of is
trained (a frozen encoder saved whole), parts that an earlier optimizer had trained.

Bad:

    freeze(model)                       # the adapters, too
    optimizer = AdamW(p for p in model.parameters() if p.requires_grad)
    ...
    torch.save(adapter_state(model), "adapter.pt")

Good:

    freeze(model)
    for name, parameter in model.named_parameters():
        parameter.requires_grad_("lora_" in name)
"""

from __future__ import annotations

from pathlib import PurePath

from diagnostics.core.findings import Confidence, Evidence
from diagnostics.diagnosis.mark_match import latest, training_match
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.replicas.source_lines import own
from diagnostics.record.marks.model_marks import SavedUntrained

CODE = "D964"
NAME = "saved-state-untrained"
CLASS = "zero-progress"
EXAMINES = AppliesTo.ANY
WHILE_RUNNING = True


def match(job: Job) -> Match | None:
    """Returns the ranks that saved what they never trained."""
    found = latest(job, SavedUntrained)
    if not found:
        return None
    first = found[0]
    mark = first.mark
    made, saved = own(first.process, mark.made)[:2], own(first.process, mark.path)[:1]
    at = f" at {job.line(saved[0])}" if saved else ""
    names = ", ".join([*mark.names, *(["..."] if mark.tensors > len(mark.names) else [])])
    return training_match(
        job,
        [one.process for one in found],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"{PurePath(mark.file).name or 'A state'} is saved{at} with {mark.tensors} tensors of a model that is "
        f"trained, and no optimizer ever held one of them: {names}",
        evidence=[
            Evidence(
                source=f"after {mark.step} steps: parameters in the file that an optimizer ever held",
                observed=f"0 of {mark.tensors}; {mark.learning} others of the same model are in one",
                expected="those that are saved",
            )
        ],
        fix="let what is saved require gradients before the optimizer's list of parameters is made, and print that "
        "list: [name for name, one in model.named_parameters() if one.requires_grad]",
        places=tuple(dict.fromkeys([*made, *saved])),
        confidence=Confidence.LIKELY,
    )
