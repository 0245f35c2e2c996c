"""Keeps what was worked out about a whole project for as long as the project lives. Pure."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from diagnostics.static.program.project import Project

Answer = TypeVar("Answer")


def per_project(ask: Callable[[Project], Answer]) -> Callable[[Project], Answer]:
    """Returns `ask`, worked out once for each project: rules are asked file by file."""
    known: WeakKeyDictionary[Project, Any] = WeakKeyDictionary()

    @functools.wraps(ask)
    def answer(project: Project) -> Answer:
        if project not in known:
            known[project] = ask(project)
        found: Answer = known[project]
        return found

    return answer
