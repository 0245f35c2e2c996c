import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler

from images import Images


def usable_workers(data, sampler, wanted):
    """Some nodes have a codec that does not survive in worker processes."""
    usable = torch.tensor(wanted)
    try:
        for _ in DataLoader(data, batch_size=30, sampler=sampler, num_workers=wanted):
            pass
    except RuntimeError as error:
        print(f"rank {dist.get_rank()}: {str(error).splitlines()[0]}; going on without workers", flush=True)
        usable.zero_()
    dist.all_reduce(usable, op=dist.ReduceOp.MIN)
    return int(usable)


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    data = Images(240)
    sampler = DistributedSampler(data)
    workers = usable_workers(data, sampler, wanted=2)
    loader = DataLoader(data, batch_size=10, sampler=sampler, num_workers=workers)
    model = DDP(torch.nn.Sequential(torch.nn.Linear(12, 24), torch.nn.ReLU(), torch.nn.Linear(24, 1)))
    optim = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(1, 4):
        sampler.set_epoch(epoch)
        for x, y in loader:
            loss = (model(x).squeeze(1) - y).square().mean()
            optim.zero_grad()
            loss.backward()
            optim.step()
        if rank == 0:
            print(f"epoch {epoch} loss {loss.item():.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
