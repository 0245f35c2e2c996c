"""CTC is told how many frames the features have, and the model leaves fewer.

What it does: runs each script on values that are not known, and flags CTC and transducer losses whose input lengths are
those of the features, where the model was given them and gave others that it divided, or where layers with a stride
stand between the frames that are counted and the outputs.

Why it matters: the first batch fails with "Expected input_lengths to have value at most ...". Where the longest row is
padded so far that it does not, the loss aligns the text with padding.

Bad:

    log_probs, out_lens = model(feats, feat_lens)
    loss = ctc(log_probs.transpose(0, 1), labels, feat_lens, label_lens)

Good:

    loss = ctc(log_probs.transpose(0, 1), labels, out_lens, label_lens)

What it cannot see: lengths that the data set divides, and models that are not in the project.
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.audit.executed import also, home, shown
from diagnostics.audit.rule import Violation, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.executed.models.alignment_lengths import told_lengths_of_input
from diagnostics.static.execution.events import Execution
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A363"
NAME = "lengths-of-input"
SEVERITY = Severity.ERROR
WORDS = ("CTCLoss", "ctc_loss", "rnnt_loss", "RNNTLoss")
CHECKLIST = "alignment losses are told the lengths of the model's outputs"


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the losses that are told the lengths of what the model was given."""
    yield from also((), file, project, _run)


def _run(execution: Execution, project: Project) -> Iterator[Violation]:
    for loss, shrinks in told_lengths_of_input(execution):
        yield violation(
            home(loss, project),
            loss.node,
            "this loss is told the lengths of the features, and the model leaves fewer frames of them: it fails with "
            "'Expected input_lengths to have value at most ...', or aligns the text with padding",
            "give it the lengths of the outputs, as the model's layers leave them",
            steps=(shown(shrinks, project, "the frames get fewer here"),) if shrinks.function is not None else (),
            confidence=Confidence.LIKELY,
        )
