"""What a trainer says about one of its configurations. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class JobDescription:
    """What a trainer says about one of its configurations, see 'Job adapters' in ARCHITECTURE.md.

    `module` is the adapter's module, run as `python -m MODULE VERB CONFIG`; paths are absolute.
    """

    module: str
    config: Path
    overrides: tuple[str, ...] = ()
    name: str = ""
    nproc: int = 2
    backend: str = "auto"
    port: int | None = None
    threads_per_rank: int = 1
    workers: int = 0  # loader processes of one rank
    prefetch: int = 2  # batches each of them prepares
    batch_bytes: int = 0  # of one rank's batch
    disk_bytes: int = 0  # what the run is going to write
    output_dir: Path | None = None
    cache_dirs: tuple[Path, ...] = ()
    data_files: tuple[Path, ...] = ()
    precision: str = "float32"
    models: tuple[str, ...] = ()  # names of those that its verb `inspect` hands over, in their order
    env: Mapping[str, str] = field(default_factory=dict)
