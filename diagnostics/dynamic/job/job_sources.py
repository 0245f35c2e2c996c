"""Which of the job's own Python files were seen at work: scripts that ran, and files in call paths. Pure."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator

from diagnostics.core.frame import Frame
from diagnostics.core.frames import is_installed, user_frames
from diagnostics.dynamic.job.job import Case, ProcessStory
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.source_file import SourceFile

MOST_FILES = 60
_LEVELS_ABOVE = 2


def user_files(case: Case, story: ProcessStory | None = None) -> tuple[tuple[str, SourceFile], ...]:
    """Returns (name as Python knew it, file) of one process, or of all ranks first and then the others."""
    stories = (story,) if story is not None else (*case.ranks, *case.processes)
    waiting = list(dict.fromkeys(name for one in stories for name in _names(one)))
    found: dict[str, tuple[str, SourceFile]] = {}
    while waiting and len(found) < MOST_FILES:
        name = waiting.pop(0)
        file = case.sources.file(name)
        path = os.path.normpath(file.path)  # one file may have several names
        if file.tree is not None and path not in found:
            found[path] = (name, file)
            waiting += imported_files(name, file)
    return tuple(found.values())


def imported_files(name: str, file: SourceFile) -> Iterator[str]:
    """Yields the files beside this one, or beside the packages it lies in, that its imports may mean."""
    above = [os.path.dirname(name)]  # noqa: PTH120 (a name)
    for _ in range(_LEVELS_ABOVE):
        above.append(os.path.dirname(above[-1]))  # noqa: PTH120 (a name)
    for node in walk(file.tree) if file.tree is not None else ():
        folders = above
        modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            modules = [node.module or "", *(f"{node.module or ''}.{alias.name}".strip(".") for alias in node.names)]
            folders = above[node.level - 1 : node.level] if node.level else above
        for module in filter(None, modules):
            for folder in dict.fromkeys(folders):
                path = os.path.join(folder, *module.split("."))  # noqa: PTH118 (a name)
                yield from (f"{path}.py", os.path.join(path, "__init__.py"))  # noqa: PTH118 (a name)


def _names(story: ProcessStory) -> Iterator[str]:
    yield from (os.path.join(story.cwd, word) for word in story.argv if word.endswith(".py"))  # noqa: PTH118 (a name)
    if story.agent is not None:
        folder = story.agent.agent_folder
        paths = [event.path for event in story.agent.events] + [one.path for one in story.agent.constructions]
        for path in paths:
            yield from (frame.file for frame in _own(user_frames(path, agent_folder=folder)))
    for raised in story.raised:
        yield from (frame.file for frame in _own(raised.user_path))


def _own(frames: tuple[Frame, ...]) -> Iterator[Frame]:
    yield from (frame for frame in frames if not is_installed(frame))
