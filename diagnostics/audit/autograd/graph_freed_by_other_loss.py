"""The backward of one loss goes through a network's output and frees the graph that the next loss needs.

What it does: flags where a loss takes in the output of a network that an optimizer trains, and backward runs through
it, where the same output takes part in a second backward of the same round: the discriminator's loss of images that
are not detached, before the generator's. The line is the one in which the images would be detached.

Why it matters: backward frees what it went through. The second one raises "Trying to backward through the graph a
second time". Where only later epochs have both losses, it comes hours into the run.

Bad:

    fake = generator(z)
    discriminator_step(real, fake)
    generator_step(fake)

Good:

    fake = generator(z)
    discriminator_step(real, fake.detach())
    generator_step(fake)

What it cannot see: outputs that are kept in containers, and networks whose optimizer is made out of sight.
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.autograd.second_backward import second_backwards
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A338"
NAME = "graph-freed-by-other-loss"
SEVERITY = Severity.ERROR
WORDS = ("backward", "manual_backward", "zero_grad")
CHECKLIST = "what a discriminator learns from is detached from its generator"


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the backward passes that leave nothing for the next one."""
    for function in () if file.is_test else project.functions_in(file):
        for found in second_backwards(function, file, project):
            yield violation(
                file,
                found.used,
                f"the backward in line {found.first.lineno} goes through {found.name} into {found.network} and frees "
                f"its graph, which the backward in line {found.second.lineno} needs: it raises 'Trying to backward "
                "through the graph a second time'",
                f"{found.name}.detach() where only the other network learns",
                steps=(
                    step(file, found.made, f"{found.name} has the graph of {found.network}"),
                    step(file, found.first, f"backward runs through {found.name}"),
                    step(file, found.second, f"backward runs through {found.name} again"),
                ),
                confidence=Confidence.LIKELY,
            )
