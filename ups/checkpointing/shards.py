"""The parts of a state over the ranks, by torch.distributed.checkpoint, without a collective beside the training.

Who writes what is agreed on once, by all ranks, for a state that keeps its names and shapes: a replicated tensor is
written by one rank, a sharded one by each that holds a part. From then on a checkpoint is a copy (`stage`) and a file
that each rank writes by itself (`write`); the first rank puts the index of all files beside them (`write_index`).
"""

from __future__ import annotations

import io
import pickle
import warnings
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.distributed.checkpoint.api import CheckpointException
from torch.distributed.checkpoint.default_planner import DefaultSavePlanner
from torch.distributed.checkpoint.filesystem import FileSystem, FileSystemReader, FileSystemWriter
from torch.distributed.checkpoint.metadata import Metadata, MetadataIndex
from torch.distributed.checkpoint.state_dict_loader import load

from ups.distributed import World, on_all_ranks
from ups.errors import DataError

INDEX = ".metadata"


class Shards:
    """This rank's part of a state; every rank makes one at the same time."""

    def __init__(self, state: Mapping[str, Tensor], world: World) -> None:
        self.shape = shape_of(state)
        self._planner, self._world = _Staged(), world
        self._planner.set_up_planner(dict(state), is_coordinator=world.is_first)
        plans, self._index = self._planner.create_global_plan(on_all_ranks(self._planner.create_local_plan(), world))
        prefixed = FileSystemWriter(".").prepare_global_plan(plans)
        self._plan = self._planner.finish_plan(prefixed[world.rank])
        self._copies: list[Tensor] = []

    def stage(self, state: Mapping[str, Tensor]) -> None:
        """Copies this rank's part; the training may go on and change it."""
        live = self._planner.live(state, [item.index for item in self._plan.items])
        if not self._copies:
            cuda = self._world.device.type == "cuda"
            self._copies = [torch.empty(one.shape, dtype=one.dtype, pin_memory=cuda) for one in live]
            self._planner.copies = {item.index: copy for item, copy in zip(self._plan.items, self._copies, strict=True)}
        if live:
            torch._foreach_copy_(self._copies, live, non_blocking=True)
        if self._world.device.type == "cuda":
            torch.cuda.current_stream().synchronize()

    def write(self, folder: Path) -> list[Any]:
        """Writes the copies into this rank's file; returns what `write_index` needs. Raises OSError."""
        writer, files = FileSystemWriter(folder), _Files()
        writer.fs = files
        writer.set_up_storage_writer(self._world.is_first)
        try:
            results: list[Any] = writer.write_data(self._plan, self._planner).wait()
        except RuntimeError as error:  # torch says "unexpected pos" where the disk said that it is full
            raise files.refused or error from error
        return results

    def write_index(self, folder: Path, results: Sequence[list[Any]]) -> None:
        """Writes where every tensor lies, from what each rank has written. Raises OSError."""
        FileSystemWriter(folder).finish(self._index, list(results))


def shape_of(state: Mapping[str, Tensor]) -> tuple[Any, ...]:
    """Returns what has to stay for a plan to stay."""
    return tuple((name, tuple(value.shape), value.dtype) for name, value in state.items())


def read_index(folder: Path) -> Metadata:
    """Returns the index of a checkpoint; nothing in the file is run. Raises DataError."""
    try:
        metadata: Metadata = _Reader(folder).read_metadata()
    except (pickle.UnpicklingError, EOFError, AttributeError, ValueError, OSError) as error:
        raise DataError(f"{folder / INDEX} is damaged: {error}") from error
    return metadata


def read_into(state: Mapping[str, Tensor], folder: Path) -> None:
    """Fills tensors, whole or sharded over any number of ranks, in place; each rank reads its part alone."""
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*assuming the intent is to load in a single process")
            load(dict(state), storage_reader=_Reader(folder), no_dist=True)
    except CheckpointException as error:
        reason = next(iter(error.failures.values()))[0]
        raise DataError(f"{folder} cannot be read: {reason}") from error


class _Staged(DefaultSavePlanner):
    """Writes the copies in place of the tensors."""

    def __init__(self) -> None:
        super().__init__(flatten_state_dict=False)
        self.copies: dict[MetadataIndex, Tensor] = {}

    def live(self, state: Mapping[str, Tensor], wanted: Sequence[MetadataIndex]) -> list[Tensor]:
        """Returns the tensors that training changes."""
        self.state_dict = dict(state)
        found = [super(_Staged, self).lookup_object(index).detach() for index in wanted]
        self.state_dict = {}
        return found

    def lookup_object(self, index: MetadataIndex) -> Any:
        """Returns what was copied for this part."""
        return self.copies[index]


class _Files(FileSystem):
    """Files that remember why a write was refused: torch reports it as a RuntimeError without the reason."""

    refused: OSError | None = None

    @contextmanager
    def create_stream(self, path: Any, mode: str) -> Generator[io.IOBase, None, None]:
        with super().create_stream(path, mode) as stream:
            yield _Telling(stream, self)  # type: ignore[misc]


class _Telling:
    def __init__(self, stream: Any, files: _Files) -> None:
        self._stream, self._files = stream, files

    def write(self, content: Any) -> int:
        try:
            return int(self._stream.write(content))
        except OSError as error:
            self._files.refused = error
            raise

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class _Reader(FileSystemReader):
    def read_metadata(self, *args: Any, **kwargs: Any) -> Metadata:
        with self.fs.create_stream(self._get_metadata_path(), "rb") as file:
            metadata: Metadata = _Safe(file).load()
        return metadata


class _Safe(pickle.Unpickler):
    """Makes what an index consists of, and nothing else: a checkpoint may come from anybody."""

    def find_class(self, module: str, name: str) -> Any:
        known = module in ("torch.distributed.checkpoint.metadata", "torch.distributed.checkpoint.filesystem")
        if (known and name in _PARTS) or (module, name) in _OTHERS:
            return super().find_class(module, name)
        if module == "torch" and isinstance(found := getattr(torch, name, None), torch.dtype):
            return found
        raise pickle.UnpicklingError(f"{module}.{name} has no place in it")


_PARTS = (
    "Metadata", "MetadataIndex", "TensorStorageMetadata", "BytesStorageMetadata", "ChunkStorageMetadata",
    "TensorProperties", "StorageMeta", "_StorageInfo", "_MEM_FORMAT_ENCODING",
)  # fmt: skip
_OTHERS = {
    ("torch", "Size"), ("torch.serialization", "_get_layout"), ("collections", "OrderedDict"),
    ("pathlib", "PosixPath"), ("pathlib._local", "PosixPath"),
}  # fmt: skip
