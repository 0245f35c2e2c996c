import torch
import torch.distributed as dist
import yaml
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel as DDP

from radar.frames import drives
from radar.net import occupancy_net
from radar.stream import FrameStream


def train(cfg):
    rank, world = dist.get_rank(), dist.get_world_size()
    stream = FrameStream(drives(cfg), cfg, rank, world)
    torch.manual_seed(cfg["seed"])
    model = DDP(occupancy_net(cfg["width"]))
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg["lr"])
    for epoch in range(cfg["epochs"]):
        for cubes, occupied in stream.epoch(epoch):
            loss = F.binary_cross_entropy_with_logits(model(cubes).squeeze(1), occupied)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if rank == 0:
            print(f"epoch {epoch} loss {loss.item():.4f}", flush=True)


if __name__ == "__main__":
    with open("config.yaml") as handle:
        config = yaml.safe_load(handle)
    dist.init_process_group("gloo")
    train(config)
    dist.barrier()
    dist.destroy_process_group()
