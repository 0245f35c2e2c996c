import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler
from vocab import classes


def main():
    dist.init_process_group("gloo")
    rows = [{"label": "abc"[i % 3], "x": float(i)} for i in range(60)]
    ids = classes(rows)
    data = [(torch.tensor([row["x"]]), ids[row["label"]]) for row in rows]
    sampler = DistributedSampler(data)
    loader = DataLoader(data, batch_size=4, sampler=sampler)
    model = DDP(torch.nn.Linear(1, len(ids)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(3):
        sampler.set_epoch(epoch)
        for x, y in loader:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
    dist.destroy_process_group()


main()
