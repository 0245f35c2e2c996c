import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from config import TrainConfig
from factory import make_loaders
from random_utils import set_seed


class Policy(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(features, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 4))

    def forward(self, obs):
        return self.net(obs)


@torch.no_grad()
def validate(model, loader):
    model.eval()
    stats = torch.zeros(2)
    for obs, action in loader:
        stats += torch.tensor([(model(obs).argmax(1) == action).sum().item(), len(action)])
    dist.all_reduce(stats)
    model.train()
    return (stats[0] / stats[1]).item()


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    cfg = TrainConfig()
    set_seed(cfg.seed, process_index=rank)
    train_loader, val_loader = make_loaders(cfg, rank, world)
    model = DistributedDataParallel(Policy(cfg.features))
    optimizer = torch.optim.AdamW(model.parameters(), lr=cfg.lr)
    for epoch in range(cfg.epochs):
        train_loader.sampler.set_epoch(epoch)
        for obs, action in train_loader:
            obs = obs + cfg.augment_noise * torch.randn_like(obs)
            loss = F.cross_entropy(model(obs), action)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        accuracy = validate(model.module, val_loader)
        if rank == 0:
            print(f"epoch {epoch} loss {loss.item():.3f} val_acc {accuracy:.3f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
