"""Writes the files that the cache tests read, with a real torch, into the folder given as argument.

CUDA-tagged files are made on a machine without CUDA by telling `torch.save` a different location.
"""

import os
import sys
from pathlib import Path

import numpy as np
import torch


class RunsACommand:
    def __reduce__(self):
        return os.system, ("touch marker-of-a-command-that-ran",)


def tagged(location, value, path, **options):
    real = torch.serialization.location_tag
    torch.serialization.location_tag = location if callable(location) else lambda storage: location
    try:
        torch.save(value, path, **options)
    finally:
        torch.serialization.location_tag = real


def main(folder):
    latent = {"latent": torch.arange(12.0).reshape(3, 4), "params": {"nu": 0.01}, "bc": [1, 2]}
    torch.save(latent, folder / "clean.pt")
    tagged("cuda:1", latent, folder / "cuda.pt")
    tagged("mps", latent, folder / "mps.pt")
    two = {"a": torch.zeros(3, dtype=torch.float16), "b": torch.zeros(5, dtype=torch.int64)}
    tagged(lambda storage: "cuda:0" if storage.nbytes() == 40 else "cpu", two, folder / "mixed.pt")
    base = torch.zeros(1000)
    torch.save({"head": base[:10], "tail": base[-10:]}, folder / "views.pt")
    torch.save(torch.nn.Linear(3, 2).state_dict(), folder / "state_dict.pth")
    torch.save({"w": torch.nn.Parameter(torch.zeros(2)), "m": torch.zeros(2, device="meta")}, folder / "odd.bin")
    torch.save(latent, folder / "protocol5.pt", pickle_protocol=5)
    tagged("cuda:7", latent, folder / "cuda_protocol4.pt", pickle_protocol=4)
    torch.save({"x": torch.zeros(2), "array": np.arange(3.0)}, folder / "with_numpy.pt")
    torch.save({f"t{i}": torch.full((64,), float(i)) for i in range(300)}, folder / "many.pt")
    torch.save(latent, folder / "legacy.pt", _use_new_zipfile_serialization=False)
    tagged("cuda:3", latent, folder / "legacy_cuda.pt", _use_new_zipfile_serialization=False)
    torch.save({"x": torch.zeros(2), "surprise": RunsACommand()}, folder / "unsafe.pt")
    torch.save({"surprise": RunsACommand()}, folder / "legacy_unsafe.pt", _use_new_zipfile_serialization=False)
    np.save(folder / "array.npy", np.zeros((4, 3), dtype=np.float16))
    np.save(folder / "objects.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
