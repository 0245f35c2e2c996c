import io
import tarfile

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, IterableDataset, get_worker_info


def make_shard(seed, n=48):
    g = torch.Generator().manual_seed(seed)
    buf = io.BytesIO()
    with tarfile.open(fileobj=buf, mode="w") as tar:
        for i in range(n):
            blob = io.BytesIO()
            torch.save(torch.randn(9, generator=g), blob)
            info = tarfile.TarInfo(f"{i:05d}.pt")
            info.size = blob.tell()
            blob.seek(0)
            tar.addfile(info, blob)
    return buf.getvalue()


class ShardStream(IterableDataset):
    def __init__(self, shards, rank, world):
        self.mine = shards[rank::world]

    def __iter__(self):
        info = get_worker_info()
        shards = self.mine if info is None else self.mine[info.id :: info.num_workers]
        for raw in shards:
            with tarfile.open(fileobj=io.BytesIO(raw)) as tar:
                for member in tar:
                    row = torch.load(io.BytesIO(tar.extractfile(member).read()))
                    yield row[:8], row[8:]


def epochs(loader, n):
    for epoch in range(n):
        for batch in loader:
            yield epoch, batch


def main():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    shards = [make_shard(s) for s in range(7)]
    loader = DataLoader(ShardStream(shards, rank, world), batch_size=16, num_workers=1)
    model = DDP(nn.Linear(8, 1))
    opt = torch.optim.SGD(model.parameters(), lr=0.01)
    seen = 0
    for epoch, (x, y) in epochs(loader, 2):
        loss = (model(x) - y).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        seen += len(x)
    counts = [None] * world
    dist.all_gather_object(counts, seen)
    print(rank, "saw", counts)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
