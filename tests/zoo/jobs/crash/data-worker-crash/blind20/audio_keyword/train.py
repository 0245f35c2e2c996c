import torch
import torch.distributed as dist
import yaml
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel as DDP

from kws.dataset import KEYWORDS, KeywordClips, log_spectrum
from kws.feeding import EpochFeeder, make_loader
from kws.model import build_model
from kws.validate import accuracy


def main():
    with open("config.yaml") as handle:
        cfg = yaml.safe_load(handle)
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(cfg["seed"])
    train_set = KeywordClips(cfg["clips"], cfg["samples"], cfg["seed"])
    val_set = KeywordClips(cfg["val_clips"], cfg["samples"], cfg["seed"] + 1)
    feeder = EpochFeeder(make_loader(train_set, cfg, rank, world))
    model = DDP(build_model(cfg["bins"], len(KEYWORDS)))
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg["lr"])
    for epoch in range(cfg["epochs"]):
        losses = []
        for waves, labels in feeder.batches(epoch):
            loss = F.cross_entropy(model(log_spectrum(waves, cfg["bins"])), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        if epoch + 1 < cfg["epochs"]:
            feeder.warm_up(epoch + 1)
        score = accuracy(model.module, val_set, range(rank, cfg["val_clips"], world))
        if rank == 0:
            print(f"epoch {epoch} loss {sum(losses) / len(losses):.4f} val acc {score:.3f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
