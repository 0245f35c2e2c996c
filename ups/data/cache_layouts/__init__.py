"""How the latents lie on disk: one layout a file, all of them readable, the default chosen by measurement.

npy is the default. Of tests/benchmarks/cache_formats.py (2 cores with a load of 20, torch 2.13, 256 tokens of 32
channels, batches of 32 random pairs of frames; CPU time of one warm batch, which that load does not blur):

                 npy    safetensors    shards         pt
    float32   113 us         113 us    255 us    9,236 us
    float16    68 us          66 us    206 us    9,716 us

- A file a sample is 80 to 140 times slower than a map, cold or warm: each item opens an archive and reads a pickle.
- npy and safetensors are the same map behind another header; numpy alone reads npy, so that one it is.
- Shards cost twice the CPU time for their look-up, and are for file systems and copies that want small files.
- float16 takes 0.6 of the time and half of the room; the types are cast on the device.
- Plain maps: MADV_RANDOM made a cold epoch 20 times slower (4.2 s against 0.2 s), MADV_WILLNEED 1.5 times.

Batches of workers travel through /dev/shm, which costs more than putting them together here: on two cores the
fastest reader of a cache is the trainer itself (training.workers=0).
"""

from __future__ import annotations

from ups.data.cache_layouts import npy, pt, safetensors, shards
from ups.data.cache_layouts.contract import Array, Layout, Source

__all__ = ["DEFAULT", "LAYOUTS", "Array", "Layout", "Source"]

LAYOUTS: dict[str, Layout] = {module.NAME: module for module in (npy, safetensors, shards, pt)}
DEFAULT = npy.NAME
