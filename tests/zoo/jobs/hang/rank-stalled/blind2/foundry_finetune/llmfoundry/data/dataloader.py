import logging

import torch
from torch.utils.data import DataLoader, DistributedSampler

from llmfoundry.data.tasks import dataset_constructor

log = logging.getLogger(__name__)


def pad_collate(samples):
    return torch.nn.utils.rnn.pad_sequence([torch.tensor(s) for s in samples], batch_first=True)


def build_dataloader(cfg, split, cache_dir):
    fn = dataset_constructor.get_preprocessing_fn(cfg.get("preprocessing_fn", "default"))
    dataset = dataset_constructor.build_from_jsonl(cfg[split], cache_dir, fn, cfg["max_seq_len"])
    return DataLoader(dataset, cfg["batch_size"], sampler=DistributedSampler(dataset), collate_fn=pad_collate)


def build_eval_loaders(cfg, cache_dir):
    """Evaluation sets are optional: one that cannot be built is reported and left out."""
    loaders = {}
    for split in cfg["eval_splits"]:
        try:
            loaders[split] = build_dataloader(cfg, split, cache_dir)
        except Exception as e:
            log.warning("no evaluation on %s: %s", split, e)
    return loaders
