"""Rows are resampled with repetition before they are parted into training and validation.

What it does: flags a split (random_split, train_test_split, folds, a cut of shuffled rows) of what holds rows several
times over: oversampled by imbalanced-learn, drawn by `resample`, `choice`, `choices`, `DataFrame.sample(replace=True)`,
copied by `repeat`, `rare * 5` or `concat([rows] * 3)`. Helpers, class methods and other files are gone through.

Why it matters: copies of one sample come into both parts. The model is measured on what it was trained on: the
validation score is far too good, it decides which checkpoint is best and when to stop, and nothing fails.

Bad:

    X, y = RandomOverSampler().fit_resample(X, y)
    X_train, X_val, y_train, y_val = train_test_split(X, y)

Good:

    X_train, X_val, y_train, y_val = train_test_split(X, y)
    X_train, y_train = RandomOverSampler().fit_resample(X_train, y_train)

or a WeightedRandomSampler over the training part.

What it cannot see: rows that were repeated by another program, and copies that are changed by arithmetic.
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.audit.executed import also, shown
from diagnostics.audit.rule import Violation, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.executed.loading.repeated_rows import parted_after_repetition
from diagnostics.static.execution.events import Execution
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A186"
NAME = "repeated-before-split"
SEVERITY = Severity.ERROR
RUN_CLASS = "data-leakage"
WORDS = ("random_split", "train_test_split", "permutation", "randperm", "shuffle", "KFold", "StratifiedKFold",
         "ShuffleSplit", "StratifiedShuffleSplit", "sample", "resample", "fit_resample")  # fmt: skip
SUBJECT = ("random_split", "train_test_split", "KFold", "StratifiedKFold")
CHECKLIST = "rows are resampled after the split, in the training part"


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields what repeats rows that are parted afterwards."""
    yield from also((), file, project, _run, uncalled=True)


def _run(execution: Execution, project: Project) -> Iterator[Violation]:
    for one in parted_after_repetition(execution):
        steps = [shown(one.parted, project, "parts them: copies of one row come into both parts")]
        if one.node is not one.repeated.node:
            steps.insert(0, shown(one.repeated, project, "holds rows several times"))
        yield violation(
            project.file_with(one.function),
            one.node,
            "rows are repeated before they are parted: copies of one sample are in the training part and in the "
            "validation part, which then measures what was trained on",
            "part first, and resample the training part alone, or draw from it by a WeightedRandomSampler",
            steps=tuple(steps),
            confidence=Confidence.LIKELY,
        )
