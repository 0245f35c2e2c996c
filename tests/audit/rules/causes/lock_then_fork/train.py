"""A thread holds a lock while the loader forks its workers; the child's copy is never released."""
import threading

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, Dataset, DistributedSampler

cache_lock = threading.Lock()
cache = {}


class Cached(Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, at):
        with cache_lock:  # cause
            if at not in cache:
                cache[at] = torch.randn(4)
            return cache[at]


def evict_forever():
    while True:
        with cache_lock:
            for key in list(cache)[:8]:
                del cache[key]


def main():
    dist.init_process_group("gloo")
    data = Cached()
    threading.Thread(target=evict_forever, daemon=True).start()  # cause
    sampler = DistributedSampler(data)
    loader = DataLoader(data, batch_size=4, sampler=sampler, num_workers=2)  # cause
    for epoch in range(3):
        sampler.set_epoch(epoch)
        for batch in loader:
            dist.all_reduce(batch)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
