"""One checkpoint after the other while training goes on, and what all ranks agree on about them.

A checkpoint is copied between two steps, written by a thread of each rank, and made whole by the first rank once all
have written: no thread makes a collective, which could cross one of the training's. That all threads are done is
learned where ranks meet anyway (ups.stopping.boundary), and then `settle` takes the next step, on all ranks alike.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from torch import Tensor

from diagnostics.api import DoctorError
from ups import checkpoint
from ups.checkpointing import layout, state
from ups.checkpointing.pruning import prune
from ups.checkpointing.shards import INDEX, Shards, shape_of
from ups.checkpointing.worker import Worker
from ups.config import CheckpointConfig
from ups.distributed import World, from_first, most, to_first
from ups.errors import AgreedError, from_os_error

WAIT_S = 1.0  # between two looks of ranks that wait for a slow disk; far below a collective's timeout


@dataclass(slots=True)
class Saved:
    """What became of a run's checkpoints, for the report; the same on all ranks but for the seconds."""

    written: int = 0
    left_out: int = 0
    failures: list[str] = field(default_factory=list)
    last_good: str = ""  # the folder
    stall_s: list[float] = field(default_factory=list)  # for which training stood still, each time


@dataclass(frozen=True, slots=True)
class Part:
    """What one rank has written, or why not."""

    error: str = ""
    results: list[Any] = field(default_factory=list)
    files: Mapping[str, layout.FileSum] = field(default_factory=dict)


class Notes(Protocol):
    """Where it is written down what came of a checkpoint; on rank 0 alone it says anything."""

    def say(self, text: str) -> None:
        """Shows a line."""
        ...

    def note(self, text: str, kind: str, stage: str, step: int, **values: float) -> None:
        """Shows a line, and keeps a record."""
        ...


class Saver:
    """The checkpoints of one stage. Every rank calls everything here at the same step."""

    def __init__(self, world: World, checkpoints: Path, settings: CheckpointConfig, notes: Notes, saved: Saved) -> None:
        self.saved = saved
        self._world, self._folder, self._settings, self._notes = world, checkpoints, settings, notes
        self._worker, self._part, self._files_error = Worker(), Part(), ""
        self._files: dict[Path, dict[str, Any]] = {}  # not yet written
        self._shards: Shards | None = None
        self._facts: dict[str, Any] = {}
        self._phase = ""  # "" nothing, "files" best.pt alone, "writing" the ranks' parts, "committing" by the first
        self._began, self._left_out = 0.0, False
        # The same on all ranks: whether plain files are under way, why one could not be written, a thread that hangs.
        self._awaited, self._owed, self._hung = False, "", False

    @property
    def under_way(self) -> bool:
        """Whether there is something to settle; the same on all ranks."""
        return self._phase != ""

    @property
    def busy(self) -> bool:
        """Whether this rank's thread still works."""
        return self._worker.busy

    def save(self, tensors: Mapping[str, Tensor], mine: Mapping[str, Any], facts: dict[str, Any], last: bool) -> None:
        """Copies tensors and has them written; `last` waits until they are. One that would have to wait is left out.

        `mine`, what this rank has for itself, is the caller's no more.
        """
        began = time.perf_counter()
        if not self._is_free(wait=last or not self._settings.asynchronous):
            self._leave_out(facts)
            return
        # Ranks hold the same names and shapes, so all of them come to the same answer.
        if self._shards is None or self._shards.shape != shape_of(tensors):
            self._shards = Shards(tensors, self._world)
        self._shards.stage(tensors)
        shards = self._shards
        name = layout.name_of(facts["stage"], facts["position"]["epoch"], facts["position"]["step"])
        temporary = self._folder / (name + layout.WRITING)
        self._facts, self._phase, self._began = {**facts, "name": name}, "writing", time.monotonic()
        self._worker.do(lambda: self._write(shards, temporary, mine))
        self.saved.stall_s.append(time.perf_counter() - began)
        if last or not self._settings.asynchronous:
            self.finish()

    def put(self, path: Path, content: Mapping[str, Any] | None) -> None:
        """Has a plain file written by the first rank, which alone gives its content."""
        self._awaited = True
        if content is not None:
            # Of a file that still waits for a slow disk only the newest content is written.
            self._files[path] = _copied(content)
            self._worker.do(lambda: self._write_file(path))
        if not self._phase:
            self._phase, self._began = "files", time.monotonic()

    def settle(self) -> None:
        """Goes on with what is under way; no rank's thread works. Raises AgreedError where the policy is to stop."""
        parts = to_first((self._part, self._files_error), self._world)
        told: tuple[str, str] = "", ""
        if parts is not None:
            told = self._joined(part.error for part, _ in parts), self._joined(error for _, error in parts)
        wrong, wrong_file = from_first(told, self._world)
        phase, self._phase, self._part, self._files_error = self._phase, "", Part(), ""
        self._awaited = False
        if wrong:
            if self._world.is_first:
                unfinished = self._folder / (self._facts["name"] + layout.WRITING)  # the thread may come to it late
                self._worker.do(lambda: shutil.rmtree(unfinished, ignore_errors=True))
            self._failed(wrong)
        elif phase == "writing":
            self._phase = "committing"
            if parts is not None:
                made, facts, shards = [part for part, _ in parts], self._facts, self._shards
                self._worker.do(lambda: self._commit(made, facts, shards))
        elif phase == "committing":
            self.saved.written += 1
            self.saved.last_good = str(self._folder / self._facts["name"])
        if wrong_file:
            self._owed = wrong_file
            self._failed(wrong_file)

    def finish(self) -> None:
        """Waits until nothing is under way. Raises AgreedError where the policy is to stop."""
        began = time.perf_counter()
        self._is_free(wait=True)
        self.saved.stall_s.append(time.perf_counter() - began)

    def end(self) -> None:
        """Waits until nothing is under way; a plain file that could not be written is tried once more.

        Raises AgreedError where that fails, too, whatever the policy: what was trained for is not there.
        """
        self.finish()
        if self._owed and not self._hung:  # both are the same on all ranks
            self._owed, self._phase, self._began = "", "files", time.monotonic()
            for path in list(self._files):
                self._worker.do(partial(self._write_file, path))
            self.finish()
        if self._owed and from_first(bool(self._files), self._world):
            raise AgreedError(
                f"the stage is trained, and its model could not be written: {self._owed}",
                hint="make room or mend the disk, then --resume",
            )

    def report(self) -> dict[str, Any]:
        """Returns what became of the checkpoints, as JSON can hold it."""
        return asdict(self.saved)

    def _joined(self, errors: Iterable[str]) -> str:
        alone = self._world.size == 1
        return "; ".join(error if alone else f"rank {rank}: {error}" for rank, error in enumerate(errors) if error)

    def _is_free(self, wait: bool) -> bool:
        while self._phase and (wait or self._phase != "files"):  # a file is written before what comes after it
            if wait:
                self._worker.wait(WAIT_S)
            late = time.monotonic() - self._began > self._settings.timeout_s
            busy, late_anywhere = most([float(self._worker.busy), float(late)], self._world)
            if not busy:
                self.settle()
            elif late_anywhere:
                self._give_up()
            elif not wait:
                return False
        return True

    def _give_up(self) -> None:
        """Goes on without a thread that has been waiting for a disk for too long, and without its checkpoint."""
        self._worker, self._part, self._files_error, self._phase = Worker(), Part(), "", ""
        self._shards = None  # its copies are still being read
        late = f"it was not written within {self._settings.timeout_s:g} s"
        if self._awaited:
            self._owed, self._hung = late, True
        self._failed(late)

    def _failed(self, what: str) -> None:
        step, stage = self._facts.get("position", {}).get("step", 0), self._facts.get("stage", "")
        good = self.saved.last_good
        kept = f"the last good one is {good}" if good else "there is none yet"
        text = f"the checkpoint of step {step} could not be written: {what}; {kept}"
        self.saved.failures.append(f"step {step} of {stage}: {what}")
        if self._settings.on_failure == "stop":
            self._worker.wait(WAIT_S)  # until what there was of it is gone
            raise AgreedError(
                text, hint="make room or mend the disk, then --resume; or training.checkpoint.on_failure=continue"
            )
        self._notes.note(
            f"{text}; training goes on", "checkpoint_failed", stage, step, failures=len(self.saved.failures)
        )

    def _leave_out(self, facts: Mapping[str, Any]) -> None:
        self.saved.left_out += 1
        if not self._left_out:  # said once a stage; how many there were stands in the report
            step = facts["position"]["step"]
            self._notes.say(f"the checkpoint of step {step} is left out: the one before is still being written")
        self._left_out = True

    # In the thread.

    def _write(self, shards: Shards, temporary: Path, mine: Mapping[str, Any]) -> None:
        self._part = self._told(lambda: self._written(shards, temporary, mine))

    def _written(self, shards: Shards, temporary: Path, mine: Mapping[str, Any]) -> Part:
        temporary.mkdir(exist_ok=True)  # without parents: where the run's folder is gone, that has to be told
        before = {INDEX, layout.MANIFEST}
        results = shards.write(temporary)
        rank = state.write_rank(temporary, self._world.rank, state.packed(mine))
        names = {one.storage_data.relative_path for one in results} | {rank.name}
        return Part(results=results, files={name: layout.FileSum.of(temporary / name) for name in names - before})

    def _commit(self, parts: list[Part], facts: dict[str, Any], shards: Shards | None) -> None:
        def committed() -> Part:
            final = self._folder / facts["name"]
            temporary = final.with_name(final.name + layout.WRITING)
            assert shards is not None  # noqa: S101 - it has written
            shards.write_index(temporary, [part.results for part in parts])
            files = {name: one for part in parts for name, one in part.files.items()}
            files[INDEX] = layout.FileSum.of(temporary / INDEX)
            layout.write_manifest(temporary, {key: value for key, value in facts.items() if key != "name"}, files)
            layout.publish(temporary, final)
            with suppress(OSError):  # the new one is good all the same; the next tries again
                prune(self._folder, self._settings)
            return Part()

        self._part = self._told(committed)

    def _write_file(self, path: Path) -> None:
        content = self._files.get(path)
        if content is None:
            return
        try:
            checkpoint.save(path, content)
        except DoctorError as error:
            self._files_error = error.message  # the content stays for the end: the disk may have room by then
            return
        if self._files.get(path) is content:
            del self._files[path]

    def _told(self, work: Callable[[], Part]) -> Part:
        try:
            return work()
        except OSError as error:
            place = Path(error.filename or self._folder)
            return Part(error=from_os_error(error, action="cannot write", path=place).message)
        except Exception as error:  # whatever a thread meets, the ranks have to hear of it
            return Part(error=f"{type(error).__name__}: {error}")


def _copied(value: Any) -> Any:
    """Returns the content with every tensor on the CPU and no longer the training's own."""
    if isinstance(value, Tensor):
        return value.detach().to("cpu", copy=True)
    if isinstance(value, Mapping):
        return {name: _copied(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_copied(item) for item in value)
    return value
