import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(4)
    model = DistributedDataParallel(nn.Sequential(nn.Linear(64, 2048), nn.ReLU(), nn.Linear(2048, 64)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    generator = torch.Generator().manual_seed(rank)
    for step in range(24):
        x = torch.randn(8, 64, generator=generator)
        loss = (model(x) - x).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 4 == 3:
            if rank == 0:
                torch.save({"model": model.state_dict(), "step": step}, "checkpoint.pt")
            dist.barrier()
    if rank == 0:
        print("saved checkpoint.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
