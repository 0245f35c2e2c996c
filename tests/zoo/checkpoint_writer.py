"""Writes the distributed checkpoints that the cache tests read, with a real torch; the argument is the folder."""

import sys
import warnings
from pathlib import Path

import torch
import torch.distributed.checkpoint as dcp
from torch.distributed.checkpoint import FileSystemWriter
from torch.distributed.checkpoint.filesystem import SerializationFormat

STATE = {
    "model": {"w": torch.arange(1200.0).reshape(30, 40), "b": torch.zeros(5, dtype=torch.bfloat16)},
    "moments": [torch.ones(3), torch.zeros(2, dtype=torch.int64)],
    "loader": {"order": ("shuffled", (torch.arange(7),))},  # a tensor inside a pickled object
    "step": 7,
}


def save(path, **options):
    dcp.save(STATE, storage_writer=FileSystemWriter(path, **options), no_dist=True)


def tagged(path):
    real = torch.serialization.location_tag
    torch.serialization.location_tag = lambda storage: "cuda:3" if storage.nbytes() == 56 else "cpu"
    try:
        save(path)
    finally:
        torch.serialization.location_tag = real


def main(folder):
    warnings.filterwarnings("ignore")
    save(folder / "clean")
    save(folder / "threads", thread_count=2)
    save(folder / "many_threads", thread_count=16)
    save(folder / "one_file_a_tensor", single_file_per_rank=False)
    tagged(folder / "cuda")
    save(folder / "safetensors", serialization_format=SerializationFormat.SAFETENSORS)
    save(folder / "rewritten", thread_count=3)
    save(folder / "rewritten")  # leaves two parts that no metadata names


if __name__ == "__main__":
    main(Path(sys.argv[1]))
