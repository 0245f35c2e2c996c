import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def batch(gen, rank, step):
    x = torch.randn(16, 10, generator=gen)
    if rank == step % 5 and step % 13 == 6:
        x[3, 2] = float("inf")
    return x, x[:, :2].nan_to_num(posinf=0).sum(1)


def agreed(ok):
    flag = torch.tensor(float(ok))
    dist.all_reduce(flag, op=dist.ReduceOp.MIN)
    return bool(flag)


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    model = DDP(torch.nn.Sequential(torch.nn.Linear(10, 20), torch.nn.Tanh(), torch.nn.Linear(20, 1)))
    optim = torch.optim.AdamW(model.parameters(), lr=3e-3)
    gen = torch.Generator().manual_seed(30 + rank)
    skipped = 0
    for step in range(200):
        x, y = batch(gen, rank, step)
        finite = bool(torch.isfinite(x).all())
        if not finite:
            print(f"rank {rank} step {step}: bad values in the batch", flush=True)
        if not agreed(finite):
            skipped += 1
            continue
        loss = (model(x).squeeze(1) - y).square().mean()
        optim.zero_grad()
        loss.backward()
        optim.step()
    print(f"rank {rank} loss {loss.item():.4f}, {skipped} of 200 steps skipped", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
