"""What one rank of a try answered, read defensively: the user's code ran in the process that wrote it. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from diagnostics.core.frame import Frame


@dataclass(frozen=True, slots=True, kw_only=True)
class RankError:
    """The exception that ended a try; frames innermost first, neither ours nor the agent's."""

    type: str
    message: str
    frames: tuple[Frame, ...]
    phase: str = ""
    step: int = 0
    module: str | None = None
    module_class: str = ""
    traceback: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialAnswer:
    """How far a rank came. `phase` is the one that was open, "" where all came to its end."""

    torch: str = ""
    phase: str = ""
    step: int = 0
    finished: bool = False
    refusal: str = ""
    hint: str = ""
    error: RankError | None = None
    nonfinite: str = ""  # "loss", "gradient of NAME", "parameter NAME"
    nonfinite_step: int = 0
    nonfinite_module: str | None = None
    nonfinite_frames: tuple[Frame, ...] = ()  # innermost first
    gradients: str = ""
    parameters: str = ""
    tree: tuple[Mapping[str, Any], ...] = ()


def read_rank_answer(data: Mapping[str, Any] | None) -> TrialAnswer | None:
    """Returns the answer of a rank, None where it left none that can be read."""
    if data is None:
        return None
    try:
        phase, error = str(data.get("phase", "")), data.get("error")
        return TrialAnswer(
            torch=str(data.get("torch", "")),
            phase=phase,
            step=int(data.get("step", 0)),
            finished=not phase and bool(data.get("phases")),
            refusal=str(data.get("refusal") or ""),
            hint=str(data.get("hint") or ""),
            error=_error(error) if error else None,
            nonfinite=str(data.get("nonfinite") or ""),
            nonfinite_step=int(data.get("nonfinite_step") or 0),
            nonfinite_module=_text_or_none(data.get("nonfinite_module")),
            nonfinite_frames=_frames(data.get("nonfinite_frames") or ()),
            gradients=str(data.get("gradients") or ""),
            parameters=str(data.get("parameters") or ""),
            tree=tuple(node for node in data.get("tree") or () if isinstance(node, Mapping)),
        )
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        return None


def _error(error: Mapping[str, Any]) -> RankError:
    return RankError(
        type=str(error["type"]),
        message=str(error.get("message", "")),
        frames=_frames(error["frames"]),
        phase=str(error.get("phase", "")),
        step=int(error.get("step", 0)),
        module=_text_or_none(error.get("module")),
        module_class=str(error.get("module_class", "")),
        traceback=str(error.get("traceback", "")),
    )


def _frames(innermost_last: Sequence[Sequence[Any]]) -> tuple[Frame, ...]:
    found = [Frame(file=str(file), line=int(line), function=str(name)) for file, line, name in innermost_last]
    return tuple(reversed(found))


def _text_or_none(value: Any) -> str | None:
    return None if value is None else str(value)
