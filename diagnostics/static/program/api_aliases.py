"""One full name for each thing that PyTorch and its trainers offer under several. Pure."""

from __future__ import annotations

import re

_PREFIXES = (
    (re.compile(r"^torch\.distributed\.distributed_c10d\."), "torch.distributed."),
    (re.compile(r"^pytorch_lightning\b"), "lightning.pytorch"),
    (re.compile(r"^lightning_fabric\b"), "lightning.fabric"),
    (
        re.compile(r"^lightning\.(?=Trainer\b|LightningModule\b|Callback\b|LightningDataModule\b|seed_everything\b)"),
        "lightning.pytorch.",
    ),
    (re.compile(r"^lightning\.Fabric\b"), "lightning.fabric.Fabric"),
)
_WHOLE = {
    "torch.nn.parallel.distributed.DistributedDataParallel": "torch.nn.parallel.DistributedDataParallel",
    "torch.utils.data.dataloader.DataLoader": "torch.utils.data.DataLoader",
    "torch.utils.data.DistributedSampler": "torch.utils.data.distributed.DistributedSampler",
    "torch.utils.data.dataset.IterableDataset": "torch.utils.data.IterableDataset",
    "torch.utils.data.dataset.Dataset": "torch.utils.data.Dataset",
    "torch.distributed.fsdp.fully_sharded_data_parallel.FullyShardedDataParallel":
        "torch.distributed.fsdp.FullyShardedDataParallel",
    "torch.distributed._composable.fsdp.fully_shard": "torch.distributed.fsdp.fully_shard",
    "accelerate.accelerator.Accelerator": "accelerate.Accelerator",
    "transformers.trainer.Trainer": "transformers.Trainer",
    "lightning.pytorch.utilities.rank_zero_only": "lightning.pytorch.utilities.rank_zero.rank_zero_only",
    "deepspeed.comm": "torch.distributed",
}  # fmt: skip
# How every name begins that one of _PREFIXES rewrites: nearly all names need no search.
_BEGINNINGS = ("torch.distributed.distributed_c10d.", "pytorch_lightning", "lightning")


def canonical_name(name: str) -> str:
    """Returns the one full name of what `name` names."""
    if name in _WHOLE:
        return _WHOLE[name]
    if name.startswith("deepspeed.comm."):
        return "torch.distributed." + name[len("deepspeed.comm.") :]
    for pattern, place in _PREFIXES if name.startswith(_BEGINNINGS) else ():
        found, count = pattern.subn(place, name, count=1)
        if count:
            return _WHOLE.get(found, found)
    return name
