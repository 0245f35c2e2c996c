"""What a process was doing when it ended: activity, module and line, from its agent's file and fault stack. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from diagnostics.core.frame import Frame
from diagnostics.core.frames import location, user_frames
from diagnostics.dynamic.job.construction_path import construction_path, open_constructions
from diagnostics.record.agent_data import AgentData, LifecycleEvent, ModuleName, OpenModules
from diagnostics.record.stacks import FaulthandlerLog
from diagnostics.static.program.source_file import SourceStore


@dataclass(frozen=True, slots=True, kw_only=True)
class LastActivity:
    """Where a process stood. `certain` is False where no stack backs what the agent noted last."""

    activity: str  # construct | forward | backward | "" where no module was involved
    phase: str  # the last phase the program announced, "" where it announced none
    module: ModuleName | None
    frame: Frame | None  # innermost line of the job's own code
    location: str  # "model.py:31", "" where unknown
    source: tuple[str, ...]  # the lines around it
    certain: bool

    @property
    def where(self) -> str:
        """Module, activity and line in words: "forward of levels.1.attention (Attention), model.py:31"."""
        parts = []
        if self.module is not None:
            path = f"{self.module.path} ({self.module.class_name})" if self.module.path else self.module.class_name
            parts.append(f"{self.activity} of {path}")
        elif self.activity or self.phase:
            parts.append(self.activity or f"phase {self.phase}")
        return ", ".join([*parts, self.location] if self.location else parts)


def last_activity(
    agent: AgentData, fault: FaulthandlerLog | None, exception: LifecycleEvent | None = None
) -> LastActivity:
    """Returns where the process stood when it died: by a signal, or by `exception`, an event of that kind."""
    frames = _frames(agent, fault, exception)
    sources = SourceStore(agent.cwd)
    activity, module = _activity(agent, fault, exception, frames, sources)
    phase = agent.last_event("phase")
    frame = frames[0] if frames else None
    return LastActivity(
        activity=activity,
        phase=phase.text if phase is not None else "",
        module=module,
        frame=frame,
        location=location(frame, agent.cwd) if frame else "",
        source=sources.file(frame.file).around(frame.line) if frame else (),
        certain=bool(frames),
    )


def _frames(agent: AgentData, fault: FaulthandlerLog | None, exception: LifecycleEvent | None) -> tuple[Frame, ...]:
    if exception is not None:
        return user_frames(exception.path, agent_folder=agent.agent_folder)
    if fault is not None and fault.crashed is not None:
        return user_frames(fault.crashed.frames, agent_folder=agent.agent_folder)
    return ()


def _activity(
    agent: AgentData,
    fault: FaulthandlerLog | None,
    exception: LifecycleEvent | None,
    frames: Sequence[Frame],
    sources: SourceStore,
) -> tuple[str, ModuleName | None]:
    stack = _open_stack(agent)
    if stack is not None:
        return "forward", stack.modules[-1]
    last = max([0, *(entry.sequence for entry in agent.entered), *(one.sequence for one in agent.constructions)])
    if exception is not None:
        left = [one for one in agent.open_modules if one.left_by_exception and one.left_at > last & 0xFFFFFFFF]
        if left:
            return "forward", left[0].left_by_exception
    backward = agent.entered[-1] if agent.entered and agent.entered[-1].backward else None
    believed = not frames or exception is not None or _runs_autograd(fault)
    if backward is not None and backward.sequence == last and believed:
        return "backward", backward.module
    if _runs_autograd(fault):
        return "backward", None
    return _construction(agent, frames, sources, last)


def _open_stack(agent: AgentData) -> OpenModules | None:
    """Returns the stack of open modules, the main thread's where several threads have one."""
    stacks = [stack for stack in agent.open_modules if stack.modules]
    return max(stacks, key=lambda stack: (stack.thread == agent.pid, stack.depth), default=None)


def _runs_autograd(fault: FaulthandlerLog | None) -> bool:
    frames = fault.crashed.frames if fault is not None and fault.crashed is not None else ()
    return any("/torch/autograd/" in frame.file and "backward" in frame.function for frame in frames)


def _construction(
    agent: AgentData, frames: Sequence[Frame], sources: SourceStore, last: int
) -> tuple[str, ModuleName | None]:
    built = agent.constructions
    if not built or (not frames and built[-1].sequence != last):
        return "", None
    chain = open_constructions(built, frames)
    if not chain:
        return "", None
    path, root = construction_path(chain, built, sources)
    return "construct", ModuleName(path=path, class_name=chain[-1].class_name, root_class=root)
