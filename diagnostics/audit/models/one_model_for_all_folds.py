"""One model is made before the loop over the folds of a cross-validation, and goes on learning in each of them.

What it does: flags a model that is made outside of a loop over folds (`KFold().split(...)`, or what is called a fold by
both the variable and what is looped over) while its optimizer steps and something is evaluated inside. Functions,
methods and other files are gone through.

Why it matters: what is held out in the second fold was trained on in the first. From then on the validation measures
what the model remembers: the scores climb from fold to fold, their mean is far too good, and nothing fails.

Bad:

    model = Net()
    for fold, (train, val) in enumerate(KFold(5).split(x)):
        scores.append(fit(model, x[train], x[val]))

Good:

    for fold, (train, val) in enumerate(KFold(5).split(x)):
        model = Net()
        scores.append(fit(model, x[train], x[val]))

or a state that is kept before the loop and loaded at the beginning of each fold.

What it cannot see: models that other libraries make, and resets by functions that it cannot go into. Left alone are
TimeSeriesSplit, in which time goes on, and loops that load, copy or draw weights anywhere.
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.audit.executed import also, home, shown
from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.executed.models.learned_over_folds import learned_over_folds
from diagnostics.static.execution.events import Execution
from diagnostics.static.execution.values import Instance, Made
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A366"
NAME = "one-model-for-all-folds"
SEVERITY = Severity.ERROR
RUN_CLASS = "data-leakage"
WORDS = ("fold", "folds", "n_folds", "num_folds", "k_folds", "n_splits", "KFold", "StratifiedKFold", "GroupKFold",
         "kfold", "k_fold")  # fmt: skip
CHECKLIST = "each fold of a cross-validation has a model of its own"


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the models that learn through all folds."""
    yield from also((), file, project, _run)


def _run(execution: Execution, project: Project) -> Iterator[Violation]:
    for model, stepped, loop in learned_over_folds(execution):
        if not isinstance(model, (Instance, Made)) or model.node is None:
            continue  # no call made it
        yield violation(
            home(model, project),
            model.node,
            "this model is made once and goes on learning in each fold: what a fold holds out was trained on in those "
            "before it",
            "make the model and its optimizer at the beginning of each fold",
            steps=(
                step(project.file_with(loop.function), loop.node, "the loop over the folds"),
                shown(stepped, project, "the same model learns in each"),
            ),
            confidence=Confidence.LIKELY,
        )
