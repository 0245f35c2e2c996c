import torch
import torch.distributed as dist
import yaml
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel as DDP

from traffic.datamodule import TrafficData, jitter
from traffic.forecaster import SpeedForecaster
from traffic.seeding import seed_everything


@torch.no_grad()
def validate(model, loader):
    model.eval()
    error = torch.zeros(2)
    for history, target in loader:
        error[0] += F.l1_loss(model(history), target, reduction="sum")
        error[1] += target.numel()
    dist.all_reduce(error)
    model.train()
    return (error[0] / error[1]).item()


def main():
    with open("config.yaml") as handle:
        cfg = yaml.safe_load(handle)
    dist.init_process_group("gloo")
    seed_everything(cfg["seed"])
    data = TrafficData(**cfg["data"])
    train_loader, val_loader = data.train_loader(), data.val_loader()
    model = DDP(SpeedForecaster(cfg["data"]["sensors"], cfg["hidden"]))
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg["lr"])
    for epoch in range(cfg["epochs"]):
        train_loader.sampler.set_epoch(epoch)
        for history, target in train_loader:
            loss = F.smooth_l1_loss(model(jitter(history, cfg["jitter"])), target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        error = validate(model.module, val_loader)
        if dist.get_rank() == 0:
            print(f"epoch {epoch} train {loss.item():.5f} val mae {error:.5f}", flush=True)
    dist.barrier()


if __name__ == "__main__":
    main()
