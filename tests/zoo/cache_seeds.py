"""Writes one small file of every cache format with the real libraries, into the folder given as argument."""

import json
import pickle
import sys
from pathlib import Path

import cache_writer
import h5py
import numpy as np
import torch
import torch.distributed.checkpoint as dcp
from safetensors.torch import save_file


def main(folder):
    cache_writer.main(folder)
    (folder / "many.pt").unlink()  # 300 tensors: large for an input that is changed a million times
    np.savez(folder / "stored.npz", a=np.zeros((4, 3), dtype=np.float16), b=np.arange(5))
    np.savez_compressed(folder / "deflated.npz", a=np.zeros((40, 30)), b=np.arange(5))
    tensors = {"latent": torch.zeros(3, 4), "nu": torch.zeros(2, dtype=torch.int64)}
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    shards = {f"model-0000{n}-of-00002.safetensors": {f"layer{n}": torch.zeros(2)} for n in (1, 2)}
    for name, held in shards.items():
        save_file(held, folder / name)
    weights = {key: name for name, held in shards.items() for key in held}
    index = {"metadata": {"total_size": 16}, "weight_map": weights}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    for version in ("earliest", "latest"):
        with h5py.File(folder / f"{version}.h5", "w", libver=version) as file:
            file["group/latent"] = np.zeros((3, 4), dtype=np.float32)
    dcp.save(
        {"model": torch.nn.Linear(3, 2).state_dict(), "step": 3}, checkpoint_id=folder / "checkpoint", no_dist=True
    )
    (folder / "plain.pkl").write_bytes(pickle.dumps({"a": np.arange(3.0), "b": [1, "x"]}))
    with (folder / "tensors.pkl").open("wb") as file:
        pickle.dump({"latent": torch.zeros(3)}, file)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
