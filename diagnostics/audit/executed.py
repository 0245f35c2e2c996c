"""What rules ask of scripts that were run on values that are not known: hits that reading did not find."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from diagnostics.audit.rule import ExplanationStep, Violation, step
from diagnostics.core.findings import Confidence
from diagnostics.static.execution.events import Event, Execution
from diagnostics.static.execution.traces import executions
from diagnostics.static.execution.values import Made
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile


def also(
    found: Iterable[Violation],
    file: ProjectFile,
    project: Project,
    asked: Callable[[Execution, Project], Iterable[Violation]],
) -> Iterator[Violation]:
    """Yields what was found by reading, then what the runs show in `file`, where reading found nothing in it."""
    read = list(found)
    yield from read
    told: set[tuple[int, int]] = set()
    loud = any(one.confidence is not Confidence.POSSIBLE for one in read)
    for execution in executions(project) if not loud and not file.is_test else ():
        for one in asked(execution, project):
            if one.file is file and (one.line, one.column) not in told:
                told.add((one.line, one.column))
                yield one


def home(one: Event | Made, project: Project) -> ProjectFile:
    """Returns the file that an event or value is in."""
    assert one.function is not None  # noqa: S101 (values that are shown were made by calls)
    return project.file_with(one.function)


def shown(one: Event | Made, project: Project, text: str) -> ExplanationStep:
    """Returns a step at an event, or where a value was made."""
    assert one.node is not None  # noqa: S101 (values that are shown were made by calls)
    return step(home(one, project), one.node, text)
