"""A state of a wrapped model, with "module." before each key, is loaded with strict=False into a bare one.

What it does: runs each script on values that are not known, and flags `load_state_dict(state, strict=False)` of a model
that is not wrapped, where the file was saved from the state of the DDP object itself, or of what torch.compile gave,
whose keys begin with "_orig_mod."; and of a wrapper that is given the state of the model inside. What a program takes
off the keys is looked at: of DDP around a compiled model they begin with "module._orig_mod.", and both have to go.

Why it matters: no key fits, and strict=False says nothing of it. The fine-tuning begins from random weights, and its
loss from the top.

Bad:

    torch.save(ddp.state_dict(), path)
    net.load_state_dict(torch.load(path), strict=False)

Good:

    torch.save(ddp.module.state_dict(), path)
    missing, unexpected = net.load_state_dict(torch.load(path), strict=False)

What it cannot see: files that another program wrote, and keys that are cut in a way that is not known.
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.audit.executed import also, home, shown
from diagnostics.audit.rule import Violation, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.executed.checkpoints.loose_loads import (
    bare_into_wrapper,
    loaded_from_others,
    loaded_loosely,
    prefix_of,
)
from diagnostics.static.execution.events import Execution
from diagnostics.static.execution.traces import executions
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A412"
NAME = "wrapper-state-loaded-loosely"
SEVERITY = Severity.ERROR
RUN_CLASS, RUN_WHEN = "checkpoint-not-loaded", "resumed"
WORDS = ("load_state_dict",)
CHECKLIST = "checkpoints are saved from the model inside of the wrapper"


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the loads in which no key fits."""
    yield from also((), file, project, _run)


def _run(execution: Execution, project: Project) -> Iterator[Violation]:
    for loaded, saved, prefix in (*loaded_loosely(execution), *loaded_from_others(execution, executions(project))):
        inside = prefix_of(saved.argument(0, "obj")).rstrip(".")
        already = "" if prefix.rstrip(".") == inside else "still "
        yield violation(
            home(loaded, project),
            loaded.node,
            f'each key of this state {already}begins with "{prefix}", none of the model\'s does, and strict=False says '
            "nothing of it: nothing is loaded",
            f"save the state of the model inside: model.{inside}.state_dict(); look at what load_state_dict gives back",
            steps=(shown(saved, project, "saved from the wrapper here"),),
            confidence=Confidence.LIKELY,
        )
    for loaded, saved in bare_into_wrapper(execution):
        yield violation(
            home(loaded, project),
            loaded.node,
            'each key of the wrapper begins with "module.", none of those saved does, and strict=False says nothing of '
            "it: nothing is loaded",
            "load it into the model inside: model.module.load_state_dict(state); look at what it gives back",
            steps=(shown(saved, project, "saved from the model inside here"),),
            confidence=Confidence.LIKELY,
        )
