from dataclasses import dataclass

from torch.utils.data import DataLoader, DistributedSampler


@dataclass
class LoaderOptions:
    batch: int = 16
    workers: int = 2
    prefetch: int = 4
    seed: int = 0


def build(dataset, options, **extra):
    sampler = DistributedSampler(dataset, seed=options.seed)
    return DataLoader(dataset, options.batch, sampler=sampler, num_workers=options.workers,
                      prefetch_factor=options.prefetch, drop_last=True, **extra)
