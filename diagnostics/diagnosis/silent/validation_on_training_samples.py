"""The loader for validation hands over the training samples.

What it does: where the program names a loader for validation or test and never trains on it, looks for the fingerprints
of its samples among those that were trained on by then, on all ranks that train the same model; other folds of a
cross-validation do not count. Half of them are enough where training samples never repeat: then the data was split
twice. Names where the loader was built.

Why it matters: the validation curve is the training curve, so that overfitting does not show and the wrong checkpoint
is chosen.

Fix: give the loader the split that was held out.
"""

from __future__ import annotations

from diagnostics.core.failure_classes import JobOutcome
from diagnostics.core.findings import Confidence, Evidence, Fix
from diagnostics.core.wording import distinct
from diagnostics.diagnosis.match_building import blamed
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.diagnosis.silent_match import as_told, prints_text
from diagnostics.dynamic.job.evidence import source_evidence
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.samples.loader_lines import dataset_words, lines_of
from diagnostics.dynamic.samples.validation_overlap import CONTAINED, TrainedValidation, trained_validation

CODE = "D513"
NAME = "validation-on-training-samples"
CLASS = "data-leakage"
EXAMINES = AppliesTo.ANY
WHILE_RUNNING = True


def match(job: Job) -> Match | None:
    """Returns the ranks that validate on what is trained on, None where no loader that says so does."""
    found = trained_validation(job)
    if found is None:
        return None
    loader = found.loaders[0]
    lines, trained = lines_of(job, loader), lines_of(job, found.training)
    place = f" of {lines[0]}" if lines else ""
    frames = loader.built_at()
    title = (
        f"{found.name}{place} hands over training samples: {found.samples} of its {found.of} samples are also trained "
        f"on{f' by the loader of {trained[0]}' if trained else ''}"
    )
    shown = Evidence(
        source=f"rank {loader.rank}: prints of the first batches of {found.name}",
        observed=prints_text(found.shown),
        expected="samples that no rank trains on",
    )
    return as_told(
        job,
        blamed(
            job,
            [one.process for one in found.loaders],
            code=CODE,
            name=NAME,
            failure_class=CLASS,
            title=title,
            evidence=[shown, *(source_evidence(job, frames[0]) if frames else ())],
            fix=Fix(text=_fix(found, dataset_words(job, loader))),
            locations=distinct([*lines, *trained]),
            confidence=Confidence.LIKELY,
            outcome=JobOutcome.SILENT_WRONG,
            began_s=loader.process.began_s,
        ),
    )


def _fix(found: TrainedValidation, words: str) -> str:
    if found.samples >= CONTAINED * found.of:
        return f"give {found.name} the split that was held out, not {words}"
    return f"split the data once and keep both parts: {words} and the training set come from two splits that overlap"
