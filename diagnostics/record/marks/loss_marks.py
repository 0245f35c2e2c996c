"""Marks of what a loss is given, by the graph behind it, of limits that come too late, of loads in vain."""

from __future__ import annotations

from dataclasses import dataclass

from diagnostics.core.frame import Frame


@dataclass(frozen=True, slots=True, kw_only=True)
class LossSquashed:
    """A loss that was given probabilities where it takes logits, or the other way round, by its graph."""

    run: int  # looks at the graph so far that saw it
    given: str  # "SoftmaxBackward0"
    taken: str  # "LogSoftmaxBackward0", "kl_div"
    loss: float | None
    path: tuple[Frame, ...]  # of backward(), of kl_div()


@dataclass(frozen=True, slots=True, kw_only=True)
class LossConstant:
    """A loss with a term that has no graph, beside losses whose graphs it lacks."""

    run: int  # looks at the graph so far that saw it
    names: str  # of the variables that hold these, with blanks between them
    path: tuple[Frame, ...]  # of backward()


@dataclass(frozen=True, slots=True)
class LoadOverwritten:
    """Weights that were loaded and had nothing in common with it when the first step came."""

    root: str
    tensors: int  # that were looked at
    changed: int
    path: tuple[Frame, ...]  # of the load


@dataclass(frozen=True, slots=True, kw_only=True)
class ClippedLate:
    """Gradients that were clipped after the step, and by no step used before the next backward pass."""

    run: int  # steps in a row
    limit: float
    path: tuple[Frame, ...]  # where they were clipped
    stepped: tuple[Frame, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NanSteps:
    """Steps that were made on a loss that is NaN."""

    run: int  # in a row
    step: int  # the last of them
    names: str  # of variables that hold NaN, in the function that called backward(); blanks between
    path: tuple[Frame, ...]  # of backward()


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignGradients:
    """Steps that used what another optimizer's pass had left beside the gradient of their own."""

    optimizer: int
    other: int
    step: int
    run: int  # steps in a row
    lately: int  # of them, since the mark before
    opposed: int  # of these, in which the two pointed against each other
    path: tuple[Frame, ...]  # of the step
    left_at: tuple[Frame, ...]  # the other one's backward()
    passed_at: tuple[Frame, ...]  # its own


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetsUnreachable:
    """CTC losses of a training that leave out samples: those with fewer frames than labels."""

    calls: int  # that were looked at
    samples: int
    short: int  # of them, left out
    path: tuple[Frame, ...]  # of the latest call


@dataclass(frozen=True, slots=True, kw_only=True)
class FramesUnheard:
    """Padded batches of which the longest length is the same share of the frames each time, whatever their number."""

    function: str  # "ctc_loss", "pack_padded_sequence"
    calls: int  # that were looked at
    sizes: int  # different numbers of frames
    share: float  # the largest
    frames: int  # of the latest
    longest: int  # length of it
    path: tuple[Frame, ...]  # of the latest call


@dataclass(frozen=True, slots=True, kw_only=True)
class BlankTargets:
    """CTC losses of a training whose targets hold the number of the blank."""

    calls: int  # that were looked at
    labels: int
    blanks: int  # of them
    blank: int
    path: tuple[Frame, ...]  # of the latest call


@dataclass(frozen=True, slots=True, kw_only=True)
class DroppedWindows:
    """Backward passes that were cleared away after equally many each time, fewer than a step takes."""

    optimizer: int
    step: int
    drops: int  # times
    lost: int  # passes, each time
    every: int  # so many passes, the lost ones among them
    size: int  # that a step takes
    path: tuple[Frame, ...]  # of the step
    backward: tuple[Frame, ...]  # of the pass behind the lost ones


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetsOutside:
    """Losses of differences whose predictions come out of a function that never gives what some targets are."""

    function: str  # "ReluBackward0"
    low: float
    high: float | None
    calls: int  # that were looked at
    numbers: int  # of targets that were read
    outside: int  # of them
    excess: float  # mean of the squares of what is beyond
    variance: float  # of the targets
    path: tuple[Frame, ...]  # of the latest call


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetsUnsigned:
    """Losses whose targets are to be 1 and -1, and were 1 and 0."""

    function: str
    calls: int  # that were looked at
    numbers: int
    zeros: int  # of them
    path: tuple[Frame, ...]  # of the latest call


@dataclass(frozen=True, slots=True, kw_only=True)
class TermUseless:
    """A loss with a term that leads only to what another optimizer holds, where its gradients were thrown away."""

    run: int  # looks so far that saw it
    optimizer: int  # that made the step
    other: int
    terms: int
    useless: int  # of them
    path: tuple[Frame, ...]  # of backward()


@dataclass(frozen=True, slots=True, kw_only=True)
class StateCut:
    """A recurrent cell that was given its own state without its graph in each call between two backward passes."""

    run: int  # looks so far that saw it
    cell: str  # its class
    calls: int
    path: tuple[Frame, ...]  # of the first of these calls


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphEndless:
    """A backward pass whose graph has nodes of many passes before."""

    passes: int
    reached: int  # passes before that have nodes in it
    path: tuple[Frame, ...]  # of backward()


@dataclass(frozen=True, slots=True, kw_only=True)
class UnfrozenUnheld:
    """Parameters that were frozen when the training began, have gradients since a later step, and have no optimizer."""

    optimizer: int  # that trains the rest of the model
    step: int
    since: int
    run: int  # passes in a row that wrote the gradient
    name: str  # of one of them
    awake: int  # of a few that were looked at
    path: tuple[Frame, ...]  # of the step


LossMark = (
    LossSquashed
    | LossConstant
    | ClippedLate
    | LoadOverwritten
    | NanSteps
    | ForeignGradients
    | TargetsUnreachable
    | FramesUnheard
    | BlankTargets
    | DroppedWindows
    | TargetsOutside
    | TargetsUnsigned
    | TermUseless
    | StateCut
    | GraphEndless
    | UnfrozenUnheld
)
