import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from averaging import ModelEma
from model import SmallResNet


def scenes(n, seed):
    g = torch.Generator().manual_seed(seed)
    proto = torch.randn(5, 3, 16, 16, generator=torch.Generator().manual_seed(8))
    y = torch.randint(5, (n,), generator=g)
    return TensorDataset(3 + 2 * (proto[y] + torch.randn(n, 3, 16, 16, generator=g)), y)


@torch.no_grad()
def accuracy(net, loader):
    net.eval()
    n = torch.zeros(2)
    for x, y in loader:
        n += torch.tensor([(net(x).argmax(1) == y).sum().item(), len(y)])
    dist.all_reduce(n)
    return (n[0] / n[1]).item()


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    train, val = scenes(1280, 1), scenes(320, 2)
    sampler = DistributedSampler(train)
    loader = DataLoader(train, 32, sampler=sampler)
    val_loader = DataLoader(val, 64, sampler=DistributedSampler(val, shuffle=False))
    model = DistributedDataParallel(SmallResNet())
    ema = ModelEma(model.module)
    opt = torch.optim.SGD(model.parameters(), 0.05, momentum=0.9, nesterov=True)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 6 * len(loader))
    for epoch in range(6):
        sampler.set_epoch(epoch)
        model.train()
        for x, y in loader:
            loss = nn.functional.cross_entropy(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            sched.step()
            ema.update(model.module)
        acc = accuracy(ema.module, val_loader)
        if rank == 0:
            print(f"epoch {epoch} loss {loss.item():.3f} val acc (ema) {acc:.3f}", flush=True)
    if rank == 0:
        torch.save({"ema": ema.module.state_dict()}, "final.pt")
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
