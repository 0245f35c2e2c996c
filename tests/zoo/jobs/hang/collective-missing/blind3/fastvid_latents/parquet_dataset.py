import json
import logging
import os
import pickle
from pathlib import Path

import torch
import torch.distributed as dist
from torch.utils.data import IterableDataset

logger = logging.getLogger(__name__)
CACHE_NAME = "map_style_cache/file_info.json"


def _scan(path):
    files, lengths = [], []
    for entry in sorted(Path(path).glob("*.shard")):
        with open(entry, "rb") as handle:
            lengths.append(len(pickle.load(handle)))
        files.append(str(entry))
    return files, lengths


def get_parquet_files_and_length(path):
    """Names of the shards and the number of rows in each one."""
    cache_file = Path(path) / CACHE_NAME
    if cache_file.exists():
        info = json.loads(cache_file.read_text())
        logger.info("using cached file info %s", cache_file)
        return info["files"], info["lengths"]
    if dist.get_rank() == 0:
        files, lengths = _scan(path)
        cache_file.parent.mkdir(parents=True, exist_ok=True)
        tmp = cache_file.with_suffix(".tmp")
        tmp.write_text(json.dumps({"files": files, "lengths": lengths}))
        os.replace(tmp, cache_file)
    dist.barrier()
    return get_parquet_files_and_length(path)


class LatentsParquetIterStyleDataset(IterableDataset):
    def __init__(self, path, batch_size, rank, world_size):
        self.files, self.lengths = get_parquet_files_and_length(path)
        self.batch_size = batch_size
        self.rank, self.world_size = rank, world_size

    def __iter__(self):
        while True:
            for name in self.files[self.rank :: self.world_size]:
                with open(name, "rb") as handle:
                    rows = torch.stack(pickle.load(handle))
                yield from rows.split(self.batch_size)


def write_synthetic_shards(path, cfg):
    path.mkdir(parents=True, exist_ok=True)
    generator = torch.Generator().manual_seed(3)
    for i in range(cfg.num_shards):
        rows = [torch.randn(cfg.latent_dim, generator=generator) for _ in range(cfg.rows_per_shard)]
        with open(path / f"part-{i:05d}.shard", "wb") as handle:
            pickle.dump(rows, handle)
