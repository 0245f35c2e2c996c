import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

from detector import Detector, pretrained_backbone
from ema import EMAWeights


def bumps(n, seed, length=24):
    g = torch.Generator().manual_seed(seed)
    where, there = torch.rand(n, generator=g), (torch.rand(n, generator=g) > 0.5).long()
    t = torch.linspace(0, 1, length)
    x = there[:, None] * 2 * torch.exp(-(((t - where[:, None]) / 0.08) ** 2)) + 0.3 * torch.randn(n, length, generator=g)
    return TensorDataset(x.unsqueeze(1), there, where)


@torch.no_grad()
def evaluate(net, loader):
    net.eval()
    hits = sum((net(x)[0].argmax(1) == y).sum().item() for x, y, _ in loader)
    net.train()
    return hits / len(loader.dataset)


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    train_set = bumps(960, 0)
    net = Detector()
    net.load_backbone(pretrained_backbone(train_set.tensors[0].split(64)))
    net.train()
    model = DistributedDataParallel(net)
    trained = [p for p in net.parameters() if p.requires_grad]
    optimizer = torch.optim.SGD(trained, lr=0.05, momentum=0.9)
    ema = EMAWeights(trained, 0.97)
    sampler = DistributedSampler(train_set)
    loader = DataLoader(train_set, batch_size=16, sampler=sampler)
    val_loader = DataLoader(bumps(200, 1), batch_size=100)
    for epoch in range(3):
        sampler.set_epoch(epoch)
        for i, (x, y, where) in enumerate(loader):
            score, box = model(x)
            loss = F.cross_entropy(score, y) + ((box - where).abs() * y).sum() / y.sum().clamp_min(1)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            ema.update()
            if i % 15 == 14:
                with ema.applied():
                    accuracy = evaluate(net, val_loader)
                if rank == 0:
                    print(f"epoch {epoch} {i + 1} loss {loss.item():.3f} ema acc {accuracy:.3f}", flush=True)
    if rank == 0:
        with ema.applied():
            torch.save(net.state_dict(), "detector_ema.pt")
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
