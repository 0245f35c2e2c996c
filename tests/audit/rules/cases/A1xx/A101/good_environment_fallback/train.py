import os

import torch.distributed as dist
from torch.utils.data import DataLoader, Dataset, DistributedSampler


def get_rank():
    if dist.is_initialized():
        return dist.get_rank()
    return int(os.environ.get("RANK", 0))


def get_world_size():
    return dist.get_world_size() if dist.is_initialized() else int(os.environ.get("WORLD_SIZE", 1))


class Rows(Dataset):
    def __init__(self, rows):
        if not dist.is_initialized() or dist.get_rank() == 0:
            print("reading", len(rows), "rows")
        self.rows = rows

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.rows[index]


def main(data):
    rows = Rows(data)
    sampler = DistributedSampler(rows, num_replicas=get_world_size(), rank=get_rank())
    loader = DataLoader(rows, sampler=sampler)
    dist.init_process_group("gloo")
    for batch in loader:
        print(batch)


if __name__ == "__main__":
    main(list(range(8)))
