"""What a process marked of its training: what was so for many steps in a row, what was loaded and saved. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from diagnostics.core.frame import Frame
from diagnostics.record.marks.loss_marks import LossMark
from diagnostics.record.marks.model_marks import ModelMark
from diagnostics.record.marks.object_marks import ObjectMark
from diagnostics.record.marks.run_marks import RunMark
from diagnostics.record.marks.schedule_marks import ScheduleMark


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptGradients:
    """The gradient that one step used was there, untouched, when the next pass added to it, `run` times in a row."""

    optimizer: int
    step: int  # of the latest of them
    run: int
    read: bool  # its numbers, too: they were not zero
    stepped: tuple[Frame, ...]
    backward: tuple[Frame, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalModeLeft:
    """Steps whose forward passes all ran in eval mode, after others of the same optimizer in train mode."""

    optimizer: int
    step: int
    run: int
    trained: int  # steps in train mode before
    root: str
    module: str  # "2 (Dropout)": the first for which it matters
    evaluating: tuple[Frame, ...]  # where eval() was called last
    stepped: tuple[Frame, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluatedInTrain:
    """Passes without gradients in train mode, `runs` times several in a row, while eval() was never called."""

    root: str
    module: str  # the first batch norm
    runs: int
    trained: int
    optimizers: int
    path: tuple[Frame, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RateGone:
    """Steps with a learning rate that came down to nothing."""

    optimizer: int
    step: int
    run: int
    first: int  # the first of these steps
    rate: float
    peak: float
    scheduler: str  # its class, "" without one
    stepped: int | None  # how often it was
    horizon: int | None  # after how many of its steps it ends, as far as it says so
    made: tuple[Frame, ...]
    path: tuple[Frame, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LossLeftOut:
    """Passes in a row, with no step between them, at a loss that is no finite number; `name`: before backward()."""

    run: int
    step: int  # steps made before
    backwards: int
    loss: float
    name: str
    path: tuple[Frame, ...]
    guard: bool = False  # the path is that of the line that asked whether it is finite


@dataclass(frozen=True, slots=True, kw_only=True)
class TensorRange:
    """The finite numbers that were read of a tensor."""

    shape: str
    read: int
    bad: int  # that were not finite
    least: float | None
    most: float | None
    rms: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstNotFinite:
    """One forward pass that was looked at module by module; `module` None: all outputs were finite."""

    step: int
    modules: int  # that were looked at
    module: str | None
    class_name: str
    inputs: tuple[TensorRange, ...]
    outputs: tuple[TensorRange, ...]  # of that module, else of the last one
    weights_finite: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalerSkips:
    """Calls of GradScaler.step in a row that made no step."""

    optimizer: int | None
    run: int
    steps: int  # made before
    path: tuple[Frame, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LeafLosses:
    """Backward passes on tensors without a graph."""

    run: int
    backwards: int
    path: tuple[Frame, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NothingLoaded:
    """A state of which no entry fitted the model."""

    model: int
    root: str
    keys: int
    given: tuple[str, ...]
    wanted: tuple[str, ...]
    step: int
    path: tuple[Frame, ...]
    fits: bool = False  # a file that was read has the model's names, and the state none of its numbers


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedFile:
    """A file that torch.save wrote."""

    file: str
    began_ns: int
    ended_ns: int
    empty: bool  # what is a state of a model by its name has no entry
    step: int
    path: tuple[Frame, ...]
    counter: int | None = None  # the epoch or step that stands in it


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadState:
    """A file that torch.load read before the first step."""

    file: str
    counter: int | None  # the epoch or step that stands in it
    optimizer: bool  # the state of one is in it
    path: tuple[Frame, ...]
    at_ns: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ClippedScaled:
    """Steps whose gradients were clipped while they were multiplied by the loss scale."""

    optimizer: int | None
    run: int
    limit: float
    norm: float | None  # before it was clipped; None: by value, or on a device
    scale: float | None
    path: tuple[Frame, ...]  # where they were clipped


@dataclass(frozen=True, slots=True, kw_only=True)
class StateNotKept:
    """A state that was taken at one step, and was the model's own of now when it was loaded back or saved."""

    loaded: bool  # into the model it was taken from; else saved
    root: str
    file: str  # that it was saved to
    since: int  # the step at which it was taken
    step: int
    taken: tuple[Frame, ...]
    path: tuple[Frame, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphCut:
    """Checkpointed parts that were given nothing that requires a gradient: what is in them gets none."""

    run: int
    step: int
    parameters: int  # in them, which require gradients and which an optimizer holds
    names: tuple[str, ...]  # of the first ones
    path: tuple[Frame, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LossSpread:
    """Predictions of one column that a difference in the loss spread over the whole batch."""

    run: int  # looks at the graph so far that saw it
    given: tuple[int, ...]
    made: tuple[int, ...]
    path: tuple[Frame, ...]  # of backward()
    function: str = ""  # "SubBackward0"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleOver:
    """A scheduler that came to the number of steps it was made for."""

    optimizer: int
    step: int  # of the optimizer
    scheduler: str
    stepped: int
    horizon: int
    made: tuple[Frame, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RateSquared:
    """The highest rate under a LambdaLR, when it was behind: at first the square of the rate that was given."""

    optimizer: int
    step: int
    base: float  # that was given
    peak: float
    rate: float  # of this step
    stepped: int  # how often the scheduler was
    made: tuple[Frame, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PartInEval:
    """A part of a model, or all of it, that was in eval mode from the start while most of it learned."""

    optimizer: int
    step: int  # of the look
    root: str
    part: str  # "" the model itself
    part_class: str
    module: str  # "1 (Dropout)": the first for which it matters
    learning: int  # its parameters that had gradients
    library: bool | None  # a library's own code called eval(); None: nobody saw who did
    evaluating: tuple[Frame, ...]
    stepped: tuple[Frame, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LostPasses:
    """Steps before which several backward passes were made, and the gradient emptied between them."""

    optimizer: int
    step: int
    run: int
    passes: int  # before the latest of these steps
    stepped: tuple[Frame, ...]
    backward: tuple[Frame, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenReductions:
    """Steps that used gradients whose asynchronous reduction nobody had waited for."""

    optimizer: int
    step: int
    run: int
    open: int  # before the latest of these steps
    gradients: int
    waited: int
    operation: str
    started: tuple[Frame, ...]
    waiting: tuple[Frame, ...]
    stepped: tuple[Frame, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class HooksGrow:
    """A module that holds ever more hooks of one function."""

    step: int
    count: int
    before: int  # at the look before
    module: str
    function: str
    path: tuple[Frame, ...]  # where they are registered


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundedUpdates:
    """Numbers in a low precision that were followed over some steps."""

    optimizer: int
    step: int  # at the end of them
    steps: int
    moved: int  # of those that had a gradient
    graded: int
    kind: str
    rate: float | None
    optimizer_class: str
    made: tuple[Frame, ...]
    stepped: tuple[Frame, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RateByNumber:
    """A rate that a scheduler changed by a number it was given."""

    optimizer: int | None
    step: int  # made before
    rate: float
    before: float
    number: float | None
    scheduler: str
    made: tuple[Frame, ...]
    path: tuple[Frame, ...]


Mark = (
    KeptGradients | EvalModeLeft | EvaluatedInTrain | RateGone | LossLeftOut | FirstNotFinite | ScalerSkips
    | LeafLosses | NothingLoaded | SavedFile | ReadState | ClippedScaled | StateNotKept | GraphCut | LossSpread
    | ScheduleOver | RateSquared | PartInEval | LostPasses | OpenReductions | HooksGrow | RoundedUpdates
    | RateByNumber | LossMark | ObjectMark | ModelMark | ScheduleMark | RunMark
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Retracted:
    """Something was loaded into a model after all, or a model was put into eval mode."""

    kind: type
    model: int = 0


def still_so(marks: list[Mark | Retracted]) -> tuple[Mark, ...]:
    """Returns the marks that no later one took back."""
    found: list[Mark] = []
    for mark in marks:
        if isinstance(mark, Retracted):
            found = [one for one in found if not isinstance(one, mark.kind) or getattr(one, "model", 0) != mark.model]
        else:
            found.append(mark)
    return tuple(found)
