"""What each step of a rank consists of: waiting for data, forward, backward, collectives, optimizer, checkpoint, other.

One clock that is switched from phase to phase by the thread that trains: a phase that begins inside of another one
interrupts it, so that the phases of a step add up to the step. A switch reads the clock of the host and adds two
numbers; of forward and backward the CPU time of this thread is read, too, since what backward() does not compute it
waits. No device is ever waited for: on a device these are the times in which the host was held up.
"""

from __future__ import annotations

import functools
import os
import struct
import sys
from _thread import get_ident
from time import monotonic_ns, thread_time_ns

from ..imports import when_imported
from ..patching import replace
from ..shared import timing_layout as layout
from .collection_times import CollectionTimes

DYNAMO = "torch._dynamo.utils"
CHECKPOINTS = "torch.distributed.checkpoint.state_dict_saver"
_STEP, _STAGE = struct.Struct(layout.STEP), struct.Struct(layout.STAGE)
_RARELY = 64  # steps
_OTHER, _PHASES, _MOST = layout.OTHER, len(layout.PHASES), layout.MOST


class Timings:
    """The clock of this process. What it tells is published at the end of each step, from the second one on."""

    def __init__(self, agent):
        self._agent = agent
        self._stages = None  # the rows of data workers: those of the process that made the loader, also in a worker
        self._loaders = {}  # line and class of a loader -> its number
        self._collections = CollectionTimes()
        self.loader = 0  # number of the loader that was gone over last
        self.forget()

    def forget(self):
        """Starts over: in a forked child the area is the parent's; a data worker goes on to write its own row of it."""
        self._area, self._broken = None, False
        self.thread = get_ident()
        self.wall = [0] * _PHASES
        self.phase, self.flags = _OTHER, 0
        self._open = []  # phases that open steps of optimizers interrupt
        self._forward_cpu = self._backward_cpu = self._began_cpu = 0
        self._collections.forget()
        self._gc_before = 0
        self.number, self._compiles = 0, 0
        self.since, self._step_cpu = monotonic_ns(), thread_time_ns()

    def enter(self, phase):
        """Switches to a phase; returns the one before, -1 in a thread that does not train."""
        if get_ident() != self.thread:
            return -1
        now, before = monotonic_ns(), self.phase
        self.wall[before] += now - self.since
        self.since, self.phase = now, phase
        return before

    def leave(self, before):
        """Switches back to what enter() returned."""
        if before < 0:
            return
        now = monotonic_ns()
        self.wall[self.phase] += now - self.since
        self.since, self.phase = now, before

    def enter_forward(self, with_gradients):
        """Switches to forward, unless it is a part of something else."""
        if self.phase != _OTHER or get_ident() != self.thread:
            return -1
        if with_gradients:
            self._began_cpu = thread_time_ns()
            return self.enter(layout.FORWARD)
        self.flags |= layout.STEP_EVALUATED
        return self.enter(layout.EVALUATION)

    def leave_forward(self, before):
        """Switches back."""
        if before < 0:
            return
        if self.phase == layout.FORWARD:
            self._forward_cpu += thread_time_ns() - self._began_cpu
        self.leave(before)

    def enter_backward(self):
        """Switches to backward."""
        before = self.enter(layout.BACKWARD)
        if before >= 0:
            self._began_cpu = thread_time_ns()
        return before

    def leave_backward(self, before):
        """Switches back."""
        if before >= 0:
            self._backward_cpu += thread_time_ns() - self._began_cpu
            self.leave(before)

    def optimizer_begins(self):
        """An optimizer is about to make a step."""
        before = self.enter(layout.OPTIMIZER)
        if before >= 0:
            self._open.append(before)

    def optimizer_ended(self):
        """It has made it."""
        if self._open and get_ident() == self.thread:
            self.leave(self._open.pop())

    def step_ended(self, number):
        """Publishes what the step consisted of that has just been made. May raise."""
        ident = get_ident()
        if ident != self.thread:  # training moved to another thread: what was counted so far is not of its steps
            self._begin_in(ident, number)
            return
        now, cpu = monotonic_ns(), thread_time_ns()
        wall = self.wall
        wall[self.phase] += now - self.since
        self.since = now
        self._collections.read()
        if self.number and (self._area is not None or self._attach()):
            self._publish(number, now, cpu)
        self.number = number
        self.wall = [0] * _PHASES
        self.flags = self._forward_cpu = self._backward_cpu = 0
        self._gc_before, self._step_cpu = self._collections.ns, cpu

    def _begin_in(self, ident, number):
        self.thread, self.phase, self.since, self._open = ident, _OTHER, monotonic_ns(), []
        self.wall, self._step_cpu = [0] * _PHASES, thread_time_ns()
        self.number = number

    def _publish(self, number, now, cpu):
        dynamo = sys.modules.get(DYNAMO)
        if dynamo is not None:
            self._compiles = dynamo.counters["stats"].get("unique_graphs", 0)
        # Numbers larger than a word are the times of a step that lasted more than an hour.
        wall = [one // 1000 if one < 4_000_000_000_000 else _MOST for one in self.wall]
        rest = (self._forward_cpu, self._backward_cpu, cpu - self._step_cpu, self._collections.ns - self._gc_before)
        rest = [min(max(0, one) // 1000, _MOST) for one in rest]
        at = layout.RING_OFFSET + number % layout.STEP_SLOTS * layout.STEP_BYTES
        area, words = self._area, self._words
        _STEP.pack_into(area, at, 0, 0, now, *wall, *rest, self._compiles, self.flags)
        struct.pack_into("<I", area, at, number & _MOST)
        words[layout.STEPS] = number
        words[layout.GC_COUNT], words[layout.GC_NS] = self._collections.count, self._collections.ns
        words[layout.COMPILES] = self._compiles
        cuda = sys.modules.get("torch.cuda")
        if not words[layout.THREADS] or not number % _RARELY:
            words[layout.THREADS], words[layout.CPUS] = _threads_and_cpus()
        words[layout.FLAGS] = layout.FLAG_DEVICE if cuda is not None and cuda.is_initialized() else 0

    def count_collections(self):
        """Counts the garbage collections of all threads from now on."""
        self._collections.begin()

    def loader_begins(self, key):
        """A loader is gone over, and its workers are about to be started. Never raises."""
        try:
            self.loader = self._loaders.setdefault(key, min(len(self._loaders), layout.LOADERS - 1))
            if self._area is None:
                self._attach()
        except Exception:
            self._broken = True

    def fetched(self, worker, wall, cpu, collate, collate_cpu, cycle):
        """Adds one batch to the row of a data worker; of worker 0 where the process fetches for itself."""
        stages = self._stages
        if stages is None or not 0 <= worker < layout.STAGES_OF_LOADER:
            return
        at = (self.loader * layout.STAGES_OF_LOADER + worker) * layout.STAGE_BYTES
        row = _STAGE.unpack_from(stages, at)
        _STAGE.pack_into(
            stages, at, row[0] + 1, row[1] + wall, row[2] + cpu, row[3] + collate, row[4] + collate_cpu,
            row[5] + cycle, 0,
        )  # fmt: skip

    def _attach(self):
        if self._broken or self._agent.file is None:
            return False
        try:
            self._area = area = self._agent.file.torch_area("timings")
        except OSError as error:
            self._broken = True
            self._agent.event("no-timings-area", str(error))
            return False
        self._words = area[: layout.HEADER_BYTES].cast("Q")
        self._stages = area[layout.STAGES_OFFSET :]
        return True


def _threads_and_cpus():
    """Returns how many threads an operation uses, and how many CPUs this process may run on; 0 unknown."""
    try:
        return sys.modules["torch"].get_num_threads(), len(os.sched_getaffinity(0))
    except (AttributeError, OSError):
        return 0, 0


def timed(original, timings, phase, is_compiling=bool):
    """Returns `original`, whose time counts as that of a phase."""

    @functools.wraps(original)
    def call(*args, **kwargs):
        if is_compiling():
            return original(*args, **kwargs)
        before = timings.enter(phase)
        try:
            return original(*args, **kwargs)
        finally:
            timings.leave(before)

    return call


def watch(agent):
    """Makes the clock of this process, which the other hooks switch."""
    timings = agent.timings = Timings(agent)
    agent.at_fork.append(timings.forget)
    timings.count_collections()
    when_imported(CHECKPOINTS, lambda: _watch_checkpoints(timings))
    _watch_threads(agent)


def _watch_checkpoints(timings):
    """Counts the time of distributed checkpoints; that of torch.save is told by file_io.py."""
    package = sys.modules.get(CHECKPOINTS.rpartition(".")[0])
    for holder in filter(None, (sys.modules[CHECKPOINTS], package)):
        for name in ("save", "async_save", "save_state_dict"):
            original = vars(holder).get(name)
            if original is not None:
                setattr(holder, name, timed(original, timings, layout.CHECKPOINT))


def _watch_threads(agent):
    """Notes where the program sets how many threads an operation uses."""
    torch = sys.modules["torch"]
    replace(torch, "set_num_threads", before=lambda frame, args, kwargs: agent.event("threads-set", frame=frame))
