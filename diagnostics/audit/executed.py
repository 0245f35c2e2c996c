"""What rules ask of scripts that were run on values that are not known: hits that reading did not find."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from types import ModuleType

from diagnostics.audit.rule import ExplanationStep, Violation, step
from diagnostics.core.findings import Confidence
from diagnostics.static.execution.events import Event, Execution
from diagnostics.static.execution.traces import executions, uncalled_executions
from diagnostics.static.execution.values import Instance, Made
from diagnostics.static.program.project import Project, per_project
from diagnostics.static.program.project_file import ProjectFile

_INIT = "torch.distributed.init_process_group"
Asked = Callable[[Execution, Project], Iterable[Violation]]


def also(
    found: Iterable[Violation],
    file: ProjectFile,
    project: Project,
    asked: Asked,
    *,
    uncalled: bool = False,
) -> Iterator[Violation]:
    """Yields what was found by reading, then what the runs show in `file`, where reading found nothing in it.

    Files that the rule is not asked about, since they have none of its words, are told with any that it is.

    `uncalled`: also runs of what no script comes to; for what is wrong whatever happens before and behind it. Those
    that begin the process group themselves are programs: nothing of the group's can have come before.
    """
    read = list(found)
    yield from read
    loud = any(one.confidence is not Confidence.POSSIBLE for one in read)
    told: set[tuple[str, int, int]] = set()
    for one in _answers(asked, project, uncalled) if not file.is_test else ():
        place = (one.file.shown, one.line, one.column)
        unread = one.file is not file and not one.file.is_test and not _is_asked_about(one.file, asked)
        if place not in told and (unread or (one.file is file and not loud)):
            told.add(place)
            yield one


def _is_asked_about(file: ProjectFile, asked: Asked) -> bool:
    """Whether the rule is asked about a file by itself: it holds one of its words."""
    words = getattr(asked, "__globals__", {}).get("WORDS", ())
    return not words or not file.words.isdisjoint(words)


def asks_runs(rule: ModuleType) -> bool:
    """Whether a rule asks what scripts do when they are run, as its imports say."""
    return any(one is also or one is executions for one in vars(rule).values())


def _answers(asked: Asked, project: Project, uncalled: bool) -> Sequence[Violation]:
    """Returns what a question finds in all scripts of a project, asked once: a rule is asked file by file."""
    known = _known(project)
    if asked not in known:
        runs = [*executions(project), *(one for one in uncalled_executions(project) if uncalled or _is_program(one))]
        known[asked] = tuple(hit for one in runs for hit in asked(one, project))
    return known[asked]


def _is_program(execution: Execution) -> bool:
    """Whether a function that no script comes to is a program of its own, `main(data)`: it begins the group."""
    return any(not one.is_handled for one in execution.named(_INIT))


@per_project
def _known(project: Project) -> dict[Asked, Sequence[Violation]]:
    """Returns where the answers about a project are kept."""
    return {}


def home(one: Event | Made | Instance, project: Project) -> ProjectFile:
    """Returns the file that an event or value is in."""
    assert one.function is not None  # noqa: S101 (values that are shown were made by calls)
    return project.file_with(one.function)


def shown(one: Event | Made | Instance, project: Project, text: str) -> ExplanationStep:
    """Returns a step at an event, or where a value was made."""
    assert one.node is not None  # noqa: S101 (values that are shown were made by calls)
    return step(home(one, project), one.node, text)
