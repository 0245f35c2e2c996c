"""What a bisection leaves for others: a script that shows the failure, and the text of a report upstream."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from diagnostics.bisection.found import Bisection
from diagnostics.bisection.progress import BisectionProgress
from diagnostics.bisection.repro.issue_text import issue_text
from diagnostics.bisection.repro.repro import Repro, ScriptRequest, find_repro
from diagnostics.bisection.repro.user_sources import user_sources
from diagnostics.bisection.trial import ModuleNode
from diagnostics.bisection.wanted import BisectionRequest
from diagnostics.core.files import write_whole
from diagnostics.machine.contract import Child

SCRIPT, ISSUE, RECORDINGS = "repro.py", "issue.md", "structures"


def hand_over(
    found: Bisection, wanted: BisectionRequest, nodes: Sequence[ModuleNode], child: Child, progress: BisectionProgress
) -> Bisection:
    """Writes repro.py where a script fails alike, and issue.md; returns the bisection with what was written.

    `nodes` is the tree of the failing case. Raises OSError.
    """
    if found.minimal is None or found.failure is None:
        return found
    repro = _repro(found, wanted, nodes, child, progress)
    if repro.text:
        write_whole(wanted.folder / SCRIPT, repro.text)
    write_whole(wanted.folder / ISSUE, issue_text(found, repro))
    return replace(
        found,
        repro=SCRIPT if repro.text else "",
        repro_failed=repro.failed,
        repro_runs=repro.runs,
        repro_note=said(repro),
        notes=(*found.notes, *(() if repro.text else repro.tried)),
    )


def said(repro: Repro) -> str:
    """Returns which kind of script it is, or why there is none."""
    if repro.way is None:
        return repro.note
    needs = " and ".join(["torch", *repro.needs])
    return f"{repro.way.words}; needs {needs}{' only' if not repro.needs else ''}"


def _repro(
    found: Bisection, wanted: BisectionRequest, nodes: Sequence[ModuleNode], child: Child, progress: BisectionProgress
) -> Repro:
    assert found.minimal is not None  # noqa: S101 - asked above
    assert found.failure is not None  # noqa: S101
    search_path = [*wanted.env.get("PYTHONPATH", "").split(":"), *_own_path()]
    sources = user_sources(found.minimal.source, nodes, Path.cwd(), search_path)
    asked = ScriptRequest(
        case=found.minimal,
        failure=found.failure,
        modules=found.modules,
        within=found.within,
        each=found.relation == "each",
        model=found.name,
        nodes=nodes,
        torch=found.torch,
        repeat=wanted.repeat,
    )
    recordings = sorted((wanted.folder / RECORDINGS).glob("*.json"), key=lambda file: file.stat().st_mtime)
    return find_repro(asked, recordings, sources, wanted.python, child, progress)


def _own_path() -> list[str]:
    """Folders that the user added to the search path of this process."""
    import os

    return [*os.environ.get("PYTHONPATH", "").split(os.pathsep), *(one for one in sys.path if one.endswith("/src"))]
