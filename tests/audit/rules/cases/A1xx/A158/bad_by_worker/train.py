import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, IterableDataset, get_worker_info


class Stream(IterableDataset):
    def __init__(self, shards):
        self.shards = shards

    def __iter__(self):
        info = get_worker_info()
        shards = self.shards[info.id :: info.num_workers] if info is not None else self.shards
        for shard in shards:
            yield from torch.load(shard)


def main():
    dist.init_process_group("gloo")
    model = DistributedDataParallel(torch.nn.Linear(2, 1))
    for batch in DataLoader(Stream(["a.pt", "b.pt"]), batch_size=8, num_workers=2):
        model(batch).sum().backward()


if __name__ == "__main__":
    main()
