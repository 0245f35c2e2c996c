import torch
import torch.distributed as dist
import yaml
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from soil.archive import Archive
from soil.probe import accelerator_name, revision
from soil.reader import GranuleReader, common_length
from soil.sidecar import LoadSampler


def main():
    with open("config.yaml") as handle:
        cfg = yaml.safe_load(handle)
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    if rank == 0:
        print("device", accelerator_name(), "revision", revision(), flush=True)
        sampler = LoadSampler(cfg["load_file"])
    reader = GranuleReader(Archive(cfg["granules"], cfg["seed"]), rank, world, cfg["threads"])
    inputs, targets = reader.load()
    length = common_length(len(inputs))
    torch.manual_seed(cfg["seed"])
    model = DDP(nn.Sequential(nn.Linear(6, cfg["hidden"]), nn.ReLU(), nn.Linear(cfg["hidden"], 1), nn.Flatten(0)))
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg["lr"])
    order = torch.Generator().manual_seed(cfg["seed"] + rank)
    for epoch in range(cfg["epochs"]):
        for pick in torch.randperm(length, generator=order).split(cfg["batch_size"]):
            loss = nn.functional.mse_loss(model(inputs[pick]), targets[pick])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if rank == 0:
            print(f"epoch {epoch} loss {loss.item():.4f}, {len(reader.missing)} granules missing", flush=True)
    if rank == 0:
        sampler.stop()
    dist.barrier()


if __name__ == "__main__":
    main()
