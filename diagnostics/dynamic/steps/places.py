"""The line at which a rank or its data worker loses its time, from looks at its stack. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from diagnostics.core.frame import Frame
from diagnostics.dynamic.job.job import Job, JobProcess, ProcessRole
from diagnostics.dynamic.job.process_queries import events_of, own_lines, user_frames_of
from diagnostics.dynamic.steps.contention import Oversubscription
from diagnostics.dynamic.steps.split import Split
from diagnostics.dynamic.steps.starvation import LoaderStage, Starvation
from diagnostics.dynamic.steps.straggler import Straggler
from diagnostics.record.step_stacks import SeenStack
from diagnostics.record.step_timings import Phase

LEAST_SEEN = 3
# Files of Python code that read and decode others, and calls of C code that do, by the text of the line.
_READERS = re.compile(
    r"(?:^|/)(?:zipfile|gzip|bz2|lzma|_compression|tarfile|csv|json|pickle|xml|numpy/lib|torch/serialization|PIL|imageio"
    r"|h5py|pandas/io|pyarrow|soundfile|librosa|torchaudio|torchvision/io|nibabel|pydicom|rasterio|netCDF4|zarr|tifffile"
    r"|safetensors)(?:/|\.py$|\w*\.py$)"
)
_READS = re.compile(
    r"\b(?:open|loads?|load_\w+|loadtxt|genfromtxt|read\w*|imread|imdecode|decompress|parse\w*|fromfile)\("
)
MAIN = 0.3  # of the looks in a phase, at one line
READS = 0.5  # of the looks at the making of batches, in what reads and decodes files
# Functions by their file's end: what a thread is in, from the outside; the first that fits.
_IN = (
    (Phase.DATA, "torch/utils/data/dataloader.py", ("__next__", "__iter__")),
    (Phase.DATA, "torch/utils/data/_utils/fetch.py", ("fetch",)),
    (Phase.CHECKPOINT, "torch/serialization.py", ("save",)),
    (Phase.CHECKPOINT, "torch/distributed/checkpoint/state_dict_saver.py", ("save", "async_save", "save_state_dict")),
    (Phase.BACKWARD, "torch/autograd/graph.py", ("_engine_run_backward",)),
    (Phase.BACKWARD, "torch/autograd/__init__.py", ("backward",)),
    (Phase.COLLECTIVE, "torch/distributed/distributed_c10d.py", ()),
    (Phase.OPTIMIZER, "torch/optim/optimizer.py", ("wrapper",)),
    (Phase.FORWARD, "torch/nn/modules/module.py", ("_wrapped_call_impl", "_call_impl")),
)


def phase_of(frames: Sequence[Frame]) -> Phase:
    """Returns what a thread was doing: the outermost of the functions that are known."""
    for frame in reversed(frames):
        for phase, file, functions in _IN:
            name = frame.function.rpartition(".")[2]
            if frame.file.endswith(file) and (name in functions or not functions):
                return phase
    return Phase.OTHER


def line_in(process: JobProcess, phase: Phase) -> tuple[Frame, ...]:
    """Returns the user's frames that were seen most while it was in a phase, innermost first; () where none stands out.

    The line is the innermost one of the user's; where that varies, the one further out that most looks share.
    """
    told = [one for one in process.step_stacks if phase_of(one.frames) is phase]
    return _shared(process, told)


def worker_line(job: Job, rank: JobProcess) -> tuple[Frame, ...]:
    """Returns the same of a rank's data workers, in what they fetch."""
    workers = [one for one in job.children_of(rank) if one.part is ProcessRole.DATA_WORKER]
    for worker in workers:
        told = [one for one in worker.step_stacks if phase_of(one.frames) is Phase.DATA]
        found = _shared(worker, told)
        if found:
            return found
    return ()


def _shared(process: JobProcess, told: Sequence[SeenStack]) -> tuple[Frame, ...]:
    seen: Counter[tuple[Frame, ...]] = Counter()
    for one in told:
        frames = user_frames_of(process, one.frames)
        for depth in range(len(frames)):
            seen[frames[depth:]] += one.count
    total = sum(one.count for one in told)
    if total < LEAST_SEEN:
        return ()
    often = [(path, count) for path, count in seen.items() if count >= MAIN * total]
    deepest = max((len(path) for path, _ in often), default=0)
    return max((one for one in often if len(one[0]) == deepest), key=lambda one: one[1], default=((), 0))[0]


def reading_line(job: Job, found: Starvation) -> Frame | None:
    """Returns the user's line at which most batches were seen to be read and decoded, None where that is not so."""
    process = found.splits[0].of.process
    makers = [one for one in job.children_of(process) if one.part is ProcessRole.DATA_WORKER] or [process]
    told = [(maker, one) for maker in makers for one in maker.step_stacks if phase_of(one.frames) is Phase.DATA]
    seen: Counter[Frame] = Counter()
    for maker, one in told:
        line = next(iter(user_frames_of(maker, one.frames)), None)
        if line is not None and _is_reading(job, line, one.frames):
            seen[line] += one.count
    total = sum(one.count for _, one in told)
    if total < LEAST_SEEN or sum(seen.values()) < READS * total:
        return None
    return seen.most_common(1)[0][0]


def _is_reading(job: Job, line: Frame, frames: Sequence[Frame]) -> bool:
    inner = frames[: frames.index(line)] if line in frames else ()
    if any(_READERS.search(frame.file) for frame in inner):
        return True
    lines = job.sources.file(line.file).lines
    return not inner and 0 < line.line <= len(lines) and _READS.search(lines[line.line - 1]) is not None


def straggler_line(job: Job, late: Straggler) -> tuple[Frame, ...]:
    """Returns where the rank that is late was seen in the phase in which it loses its time; () where nobody saw it."""
    process = late.split.of.process
    if late.phase is Phase.DATA:
        return worker_line(job, process) or line_in(process, Phase.DATA)
    if late.phase is Phase.EVALUATION:
        return _evaluated_at(process, late.split)
    return line_in(process, late.phase) or _checkpoint(process, late.phase)


def _evaluated_at(process: JobProcess, split: Split) -> tuple[Frame, ...]:
    """Returns the user's line that calls a model to evaluate it.

    A stack does not say whether gradients are recorded, so that this is told where most passes are evaluations.
    """
    if split.seconds(Phase.EVALUATION) <= split.seconds(Phase.FORWARD):
        return ()
    passes = [one for one in process.step_stacks if phase_of(one.frames) is Phase.FORWARD]
    return _shared(process, [replace(one, frames=_outside_models(one.frames)) for one in passes])


def _outside_models(frames: Sequence[Frame]) -> tuple[Frame, ...]:
    """Returns the frames that called the outermost model."""
    calls = [number for number, one in enumerate(frames) if phase_of([one]) is Phase.FORWARD]
    return tuple(frames[max(calls, default=-1) + 1 :])


def _checkpoint(process: JobProcess, phase: Phase) -> tuple[Frame, ...]:
    """Returns where the process began its latest checkpoint, as its agent told."""
    if phase is not Phase.CHECKPOINT:
        return ()
    told = events_of(process, "checkpoint")
    return user_frames_of(process, told[-1].path) if told else ()


def starved_lines(job: Job, found: Starvation) -> tuple[Frame, ...]:
    """Returns where the loader was built, then what is slow in making its batches."""
    process = found.splits[0].of.process
    built = found.loader.built_at()[:1] if found.loader is not None else ()
    slow = worker_line(job, process) if found.workers else line_in(process, Phase.DATA)
    slow = tuple(frame for frame in slow[:1] if frame not in built) or _defined(found)
    return (*built, *slow)


def _defined(found: Starvation) -> tuple[Frame, ...]:
    """Returns where __getitem__ or collate_fn is defined."""
    name = "collate" if found.stage is LoaderStage.COLLATE else "getitem"
    file, _, line = (found.loader.source.facts.get(name, "") if found.loader is not None else "").rpartition(":")
    return (Frame(file=file, line=int(line), function=name),) if file and line.isdecimal() and len(line) < 9 else ()


def threads_line(job: Job, found: Oversubscription) -> tuple[str, ...]:
    """Returns the line that sets the number of threads, where the program does."""
    process = found.splits[0].of.process
    told = events_of(process, "threads-set")
    return own_lines(job, process, told[-1].path)[:1] if told else ()
