"""What a child saw of a model while it took a few steps, as plain values. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from diagnostics.core.untrusted_json import read_object


@dataclass(frozen=True, slots=True, kw_only=True)
class Write:
    """One operation that wrote to a parameter, a buffer or a tensor of the batch; `place` is "file:line"."""

    operation: str  # "mul_.Tensor"
    kind: str  # parameter | buffer | input | "" for any other tensor
    name: str
    module: str  # path of the innermost open module
    place: str
    by_layer: bool  # called by one of torch's own layers
    phase: str  # forward | loss | backward

    @property
    def short(self) -> str:
        """The operation without its overload: "mul_"."""
        return self.operation.partition(".")[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Overwritten:
    """A tensor that autograd saved, and that had another version when backward needed it."""

    tensor: str  # "buffer level", "" for an activation
    shape: tuple[int, ...]
    saved_in: str
    saved_at: str
    saved_version: int
    version: int
    write: Write | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A module was entered in forward; `place` is the user's line that called it."""

    path: str
    class_name: str
    place: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """Something by its dotted name, and the line that made it."""

    name: str
    place: str


@dataclass(frozen=True, slots=True, kw_only=True)
class InputChanged:
    """A tensor of the batch held something else after forward."""

    name: str
    floating: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class StepError:
    """The exception that ended a step; `kept` are tensors with a graph that modules held then."""

    type: str
    text: str
    place: str
    module: str
    phase: str
    kept: tuple[Named, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelStep:
    """One forward and backward."""

    calls: tuple[Call, ...]
    writes: tuple[Write, ...]
    inputs_changed: tuple[InputChanged, ...]
    overwritten: tuple[Overwritten, ...]
    overwritten_error: str  # what autograd itself says of it
    output_has_gradient: bool
    with_gradient: tuple[str, ...]
    replaced: tuple[Named, ...]
    error: StepError | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """A parameter or buffer whose content forward changed.

    `again`: a further step from the changed content changed it once more; `differs`: another batch, from the same
    content, gave another one. None where it was not measured.
    """

    kind: str
    name: str
    again: bool | None
    differs: bool | None
    trainable: bool
    floating: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """A registered tensor as it lies in memory."""

    name: str
    kind: str
    place: str
    shape: tuple[int, ...]
    stride: tuple[int, ...]
    trainable: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlap:
    """Two registered tensors with memory in common."""

    one: Stored
    other: Stored


@dataclass(frozen=True, slots=True, kw_only=True)
class Tie:
    """One object under several names; `places` are the lines that registered it, in the order of `names`."""

    names: tuple[str, ...]
    places: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sharing:
    """What of a model shares memory."""

    tied: tuple[Tie, ...]
    overlaps: tuple[Overlap, ...]
    expanded: tuple[Stored, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleRow:
    """A module that holds tensors of its own; numbers are elements."""

    path: str
    class_name: str
    parameters: int
    buffers: int
    dtypes: tuple[str, ...]
    devices: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TensorRow:
    """A parameter or buffer."""

    name: str
    kind: str
    dtype: str
    device: str
    elements: int
    dimensions: int
    floating: bool
    trainable: bool
    place: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelObservation:
    """All that was seen of one model."""

    class_name: str
    modules: tuple[ModuleRow, ...]
    module_count: int
    tensors: tuple[TensorRow, ...]
    sharing: Sharing
    steps: tuple[ModelStep, ...]
    effects: tuple[Effect, ...]
    same_batches: bool
    limited: str  # why operations could not be watched, "" where they were

    @property
    def trainable(self) -> tuple[TensorRow, ...]:
        """The parameters that are trained."""
        return tuple(one for one in self.tensors if one.kind == "parameter" and one.trainable)

    @property
    def whole_steps(self) -> tuple[ModelStep, ...]:
        """The steps that came to their end."""
        return tuple(step for step in self.steps if step.error is None)

    @property
    def parameters(self) -> int:
        """The number of elements in parameters, each counted once."""
        return sum(one.elements for one in self.tensors if one.kind == "parameter")

    def writes_to(self, kind: str, name: str) -> Iterator[Write]:
        """Yields the writes of all steps to this parameter, buffer or input, in order."""
        return (one for step in self.steps for one in step.writes if (one.kind, one.name) == (kind, name))

    def class_of(self, path: str) -> str:
        """Returns the class of the module that was called under this path, the model's own for ""."""
        calls = (call.class_name for step in self.steps for call in step.calls if call.path == path)
        return next(calls, self.class_name if not path else "")

    def shown(self, path: str) -> str:
        """Returns "layers.1 (Linear)", or the model's class for the model itself."""
        known = self.class_of(path)
        return f"{path} ({known})" if path and known else path or known


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """Why a model could not be inspected; `traceback` is what the user's own code raised."""

    message: str
    hint: str = ""
    traceback: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class InspectedModel:
    """One entry of a child's answer: what was seen, or why nothing was."""

    name: str
    refusal: Refused | None
    seen: ModelObservation | None
    note: str = ""  # what an adapter says of its batches


@dataclass(frozen=True, slots=True, kw_only=True)
class InspectionAnswer:
    """A child's whole answer."""

    torch: str
    models: tuple[InspectedModel, ...]


def read_answer(answer: Any) -> InspectionAnswer:
    """Returns a child's JSON as what it means. Raises ValueError where it has another form."""
    return read_object(InspectionAnswer, answer)
