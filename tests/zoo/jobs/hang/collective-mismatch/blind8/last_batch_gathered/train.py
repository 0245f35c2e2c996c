import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, Subset, TensorDataset

from gather import concat_all_gather


def make_sets():
    gen = torch.Generator().manual_seed(21)
    x = torch.randn(384 + 97, 15, generator=gen)
    y = (x[:, 0] * x[:, 1] > 0).long()
    return TensorDataset(x[:384], y[:384]), TensorDataset(x[384:], y[384:])


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    scores, labels = [], []
    for x, y in loader:
        scores.append(concat_all_gather(model.module(x).softmax(1)))
        labels.append(concat_all_gather(y))
    model.train()
    return (torch.cat(scores).argmax(1) == torch.cat(labels)).float().mean().item()


def main():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(0)
    train_set, val_set = make_sets()
    sampler = DistributedSampler(train_set)
    train_loader = DataLoader(train_set, batch_size=16, sampler=sampler, drop_last=True)
    val_part = Subset(val_set, range(rank, len(val_set), world))
    val_loader = DataLoader(val_part, batch_size=10)
    model = DDP(torch.nn.Sequential(torch.nn.Linear(15, 64), torch.nn.ReLU(), torch.nn.Linear(64, 2)))
    optim = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(3):
        sampler.set_epoch(epoch)
        for x, y in train_loader:
            loss = torch.nn.functional.cross_entropy(model(x), y)
            optim.zero_grad()
            loss.backward()
            optim.step()
        accuracy = evaluate(model, val_loader)
        if rank == 0:
            print(f"epoch {epoch} loss {loss.item():.4f} accuracy {accuracy:.3f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
