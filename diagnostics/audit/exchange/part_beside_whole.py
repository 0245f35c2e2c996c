"""One reduction over a dimension that is cut over the ranks is of all ranks, the next one of this rank's part only.

What it does: flags a sum, mean, norm or softmax over a dimension in a function that sums another reduction over the
same dimension of the same tensor over the ranks, where the one of this rank's part goes into what is given back: added
to what all ranks have alike, or divided by, or under a root, a logarithm or an exponential.

Why it matters: where the vocabulary, the features or the experts are divided over the ranks, a row is whole on none of
them. A mean of the rank's own columns is that of another row on each rank. The loss or the norm has a plausible value,
other than that of the whole row, and another one on each rank; nothing fails.

Bad:

    total = logits.exp().sum(-1)
    dist.all_reduce(total, group=tensor_parallel)
    loss = total.log() - picked
    return (1 - smoothing) * loss - smoothing * log_probs.mean(-1)       # the mean of this rank's words

Good:

    mean = log_probs.sum(-1)
    dist.all_reduce(mean, group=tensor_parallel)
    return (1 - smoothing) * loss - smoothing * mean / vocabulary

A part that all ranks sum later, of products and quotients by what is whole, is right and left alone; so are other
dimensions, and over the first one what is of the rank's own samples.

What it cannot see: reductions in functions that are not the project's, and a dimension that is once counted from the
front and once from the back.
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.autograd.part_reductions import part_reductions
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A235"
NAME = "part-beside-whole"
SEVERITY = Severity.ERROR
RUN_CLASS, RUN_WHEN = "wrong-loss", "ranks"
CHECKLIST = "all reductions over a dimension that is cut are over all ranks"
_HOW = {
    "added": "it is added to what is of the whole dimension",
    "bent": "it is used here as if it were that of the whole dimension",
}


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the reductions of a rank's own part beside one of all ranks."""
    if file.is_test or "torch" not in file.words or not any("reduce" in one.lower() for one in file.words):
        return
    for function in project.functions_in(file):
        for found in part_reductions(function, project):
            own, whole = found.misuse.own, found.whole
            yield violation(
                project.file_with(own.function),
                own.node,
                f"this {own.kind}() is over this rank's part of dimension {own.dim} alone, where {whole.kind}() over "
                "the same dimension is of all ranks: the result is not that of the whole, and another one on each rank",
                "sum it over the ranks too, of sums rather than of means, and divide by the size of the whole dimension"
                if own.kind == "mean"
                else "take it over all ranks as well, by all_reduce() over the same group",
                steps=(
                    step(project.file_with(whole.function), whole.node, "this one is reduced over the ranks"),
                    step(file, found.misuse.node, _HOW[found.misuse.how]),
                ),
                confidence=Confidence.LIKELY,
            )
