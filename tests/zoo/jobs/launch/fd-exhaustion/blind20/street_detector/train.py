import argparse

import torch
import torch.distributed as dist
import yaml
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler

from det.hard_examples import HardExampleReplay
from det.model import TinyDetector, detection_loss
from det.scenes import StreetScenes


def update(model, optimizer, batch):
    loss = detection_loss(model(batch["image"]), batch)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--config", default="config.yaml")
    with open(p.parse_args().config) as handle:
        cfg = yaml.safe_load(handle)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    dataset = StreetScenes(cfg["scenes"], cfg["size"], cfg["kinds"], cfg["seed"])
    sampler = DistributedSampler(dataset, seed=cfg["seed"])
    loader = DataLoader(dataset, cfg["batch_size"], sampler=sampler, num_workers=cfg["workers"], drop_last=True)
    torch.manual_seed(cfg["seed"])
    model = DDP(TinyDetector(cfg["size"], cfg["kinds"], cfg["width"]))
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg["lr"])
    replay = HardExampleReplay(seed=cfg["seed"], **cfg["replay"])
    for epoch in range(cfg["epochs"]):
        sampler.set_epoch(epoch)
        for step, batch in enumerate(loader):
            loss = update(model, optimizer, batch)
            replay.offer(batch, loss)
            again = replay.maybe_replay()
            if again is not None:
                update(model, optimizer, again)
            if rank == 0 and step % 50 == 0:
                print(f"epoch {epoch} step {step} loss {loss:.4f} kept {len(replay.buffer)}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
