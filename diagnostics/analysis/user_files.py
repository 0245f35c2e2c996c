"""Which of the job's own Python files were seen at work: scripts that ran, and files in call paths. Pure."""

from __future__ import annotations

import os
from collections.abc import Iterator

from diagnostics.analysis.agent_facts import Frame
from diagnostics.analysis.case import Case, ProcessStory
from diagnostics.analysis.source_files import SourceFile
from diagnostics.analysis.user_code import user_frames


def user_files(case: Case, story: ProcessStory | None = None) -> tuple[tuple[str, SourceFile], ...]:
    """Returns (name as Python knew it, file) of one process, or of all ranks first and then the others."""
    stories = (story,) if story is not None else (*case.ranks, *case.processes)
    names = dict.fromkeys(name for one in stories for name in _names(one))
    found: dict[str, tuple[str, SourceFile]] = {}
    for name in names:
        file = case.sources.file(name)
        if file.tree is not None:
            found.setdefault(os.path.normpath(file.path), (name, file))  # one file may have several names
    return tuple(found.values())


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
    yield from (
        frame for frame in frames if "/site-packages/" not in frame.file and "/dist-packages/" not in frame.file
    )
