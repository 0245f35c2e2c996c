"""How the latents lie on disk: one layout a file, all of them readable, the default chosen by measurement."""

from __future__ import annotations

from ups.data.cache_layouts import npy, pt, safetensors, shards
from ups.data.cache_layouts.contract import Array, Layout, Source

__all__ = ["DEFAULT", "LAYOUTS", "Array", "Layout", "Source"]

LAYOUTS: dict[str, Layout] = {module.NAME: module for module in (npy, safetensors, shards, pt)}
DEFAULT = npy.NAME
