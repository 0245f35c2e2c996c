"""The past of a series is scaled by its own statistics, its future is not, and forecasts are scaled back.

What it does: flags a function that scales a window of a series by statistics fitted to this window, and gives another
part of the same series beside it as it is, as a target, where the losses of the project compare a model's output with
the target as they are, and where outputs are scaled back by these statistics somewhere else than in the model.

Why it matters: the model learns the raw values, of whose level its input says nothing any more, so that the loss stops
at the spread of the levels. Forecasts are then scaled as if they had been learned on the other scale: they are wrong
twice, and nothing fails.

Bad:

    past = self.normalizer.fit_transform(self.data[s, encoder])
    return {"past": past, "scale": self.normalizer.params}, self.data[s, decoder]

Good:

    past = self.normalizer.fit_transform(self.data[s, encoder])
    target = self.normalizer.transform(self.data[s, decoder])

A model whose forward scales its outputs back, or a loss over outputs that are scaled back, is left alone.

What it cannot see: losses that a trainer of a library computes, and series whose past and future have other names.
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.samples.raw_targets import raw_targets

CODE = "A347"
NAME = "target-left-unscaled"
SEVERITY = Severity.ERROR
RUN_CLASS = "wrong-loss"
WORDS = ("fit_transform", "transform", "normalize", "normalise", "standardize", "encode", "std", "mean")
CHECKLIST = "targets are on the scale to which forecasts are scaled back from"


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the targets that stay raw."""
    for function in () if file.is_test else project.functions_in(file):
        for one in raw_targets(function, project):
            yield violation(
                file,
                one.window.target,
                "this part of the series is a target as it is, and the window before it is scaled by its own "
                "statistics: the model learns one scale, and its outputs are scaled back as if it were the other",
                "scale the target by the statistics of its window as well, or scale the outputs back before the loss",
                steps=(
                    step(file, one.window.scaled, "the window is scaled by its own statistics"),
                    step(project.file_with(one.trains), one.loss, "the loss takes output and target as they are"),
                    step(project.file_with(one.predicts), one.back, "outputs are scaled back here"),
                ),
                confidence=Confidence.LIKELY,
            )
