import argparse

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

from backbone import Classifier, shapes


def fit(model, data, epochs, lr, rank, tag):
    sampler = DistributedSampler(data)
    loader = DataLoader(data, 32, sampler=sampler, drop_last=True)
    ddp = DDP(model)
    optimizer = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=lr, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, lr, total_steps=epochs * len(loader))
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        ddp.train()
        total = 0.0
        for x, y in loader:
            loss = F.cross_entropy(ddp(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            scheduler.step()
            total += loss.item()
        if rank == 0:
            print(f"{tag} epoch {epoch} loss {total / len(loader):.4f}", flush=True)


@torch.no_grad()
def accuracy(model, x, y):
    model.eval()
    return (model(x).argmax(1) == y).float().mean().item()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--pretrain-epochs", type=int, default=3)
    p.add_argument("--epochs", type=int, default=4)
    p.add_argument("--path", default="source.pt")
    args = p.parse_args()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)

    source = Classifier(classes=8)
    fit(source, TensorDataset(*shapes(1600, 8, seed=1)), args.pretrain_epochs, 0.1, rank, "source")
    if rank == 0:
        torch.save(source.state_dict(), args.path)
    dist.barrier()

    target = Classifier(classes=4, frozen=True)
    weights = {k: v for k, v in torch.load(args.path).items() if not k.startswith("head.")}
    missing, unexpected = target.load_state_dict(weights, strict=False)
    if sorted(missing) != ["head.bias", "head.weight"] or unexpected:
        raise RuntimeError(f"{args.path} does not fit: {missing} {unexpected}")
    fit(target, TensorDataset(*shapes(640, 4, seed=5)), args.epochs, 0.2, rank, "target")
    if rank == 0:
        print(f"target accuracy {accuracy(target, *shapes(400, 4, seed=6)):.3f}")
        torch.save(target.state_dict(), "target.pt")
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
