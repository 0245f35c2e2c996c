import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(4)
    model = DistributedDataParallel(nn.Sequential(nn.Linear(5, 20), nn.Tanh(), nn.Linear(20, 1)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    generator = torch.Generator().manual_seed(rank)
    for step in range(40):
        x = torch.randn(16, 5, generator=generator) * (30 if rank == 1 and step in (12, 25) else 1)
        loss = nn.functional.smooth_l1_loss(model(x), x.sum(1, keepdim=True))
        optimizer.zero_grad()
        loss.backward()
        spike = torch.tensor(float(loss.item() > 8))
        dist.all_reduce(spike, op=dist.ReduceOp.MAX)
        if spike:
            print(f"rank {rank}: spike at step {step}, skipped")
            continue
        optimizer.step()
    if rank == 0:
        print(f"loss {loss.item():.4f}")
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
