"""Dropout goes on in evaluation: the function was called without `training=self.training`.

What it does: knows the lines that call F.dropout and its like without `training`, which is True by default, and that
ran with gradients as well as without, below a module in eval mode; and scaled_dot_product_attention with a dropout_p
above 0 below a module in eval mode, without gradients, after training.

Why it matters: model.eval() does not reach the function. Validation, early stopping and test are those of a model of
which a part is missing at random, another part in each pass. Nothing fails. Left alone: calls that say training=True,
functions and classes whose names say that they draw on purpose (MC dropout), chances of 0, libraries.

Bad:

    x = F.dropout(x, p=self.p)

Good:

    x = F.dropout(x, p=self.p, training=self.training)
"""

from __future__ import annotations

import re

from diagnostics.core.findings import Confidence, Evidence
from diagnostics.diagnosis.mark_match import Told, latest, training_match
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.replicas.source_lines import own, text_of
from diagnostics.record.marks.run_marks import DropoutInEval

CODE = "D957"
NAME = "dropout-in-evaluation"
CLASS = "wrong-mode"
EXAMINES = AppliesTo.ANY
WHILE_RUNNING = True

_ATTENTION = "scaled_dot_product_attention"
# "mc_predict", "BayesianHead", "# always on": somebody means it.
_MEANT = re.compile(
    r"(?:^|_)mc|MC|monte|bayes|stochastic|uncertain|posterior|sampl|ensemble|always|variational|corrupt|augment",
    re.IGNORECASE,
)


def match(job: Job) -> Match | None:
    """Returns the calls that drop in evaluation."""
    found = [one for one in latest(job, DropoutInEval, lambda mark: mark.path[:1]) if not _is_meant(job, one)]
    if not found:
        return None
    first = found[0]
    mark, process = first.mark, first.process
    places = tuple(frame for one in found if one.process is process for frame in own(process, one.mark.path)[:1])
    at = f" at {job.line(places[0])}" if places else ""
    attends = mark.function == _ATTENTION
    said = "is given a dropout_p above 0" if attends else "is called without training=, which is True by default"
    called = _ATTENTION if attends else "F.dropout"
    return training_match(
        job,
        [one.process for one in found],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"{mark.module} drops in eval mode: {called}{at} {said}",
        evidence=[
            Evidence(
                source=f"calls of {called} without gradients in {mark.module}, which is in eval mode",
                observed=f"{mark.run}, up to step {mark.step}, each with a chance above 0",
                expected="none that drops",
            )
        ],
        fix="pass dropout_p=self.p if self.training else 0.0"
        if attends
        else "pass training=self.training, or use a torch.nn.Dropout module",
        places=places,
        confidence=Confidence.LIKELY,
    )


def _is_meant(job: Job, told: Told[DropoutInEval]) -> bool:
    """Whether a name on the way to the call, or its line, says that the model is to draw."""
    path = own(told.process, told.mark.path)
    words = (told.mark.module, *(frame.function for frame in path), *(text_of(job, frame) for frame in path[:1]))
    return not path or any(_MEANT.search(one) for one in words)
