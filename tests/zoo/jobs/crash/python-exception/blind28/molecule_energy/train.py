import argparse
import json
from dataclasses import asdict, dataclass

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.utils.data import DataLoader, DistributedSampler

from averaging import WeightAverage
from model import EnergyNet
from molecules import Conformers


@dataclass
class Config:
    epochs: int = 3
    batch: int = 32
    width: int = 32
    depth: int = 3
    lr: float = 2e-3
    average_every: int = 4
    average_from: int = 8
    clip: float = 5.0


def config() -> Config:
    parser = argparse.ArgumentParser()
    for name, value in asdict(Config()).items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=type(value), default=value)
    return Config(**vars(parser.parse_args()))


def parallelize(model, mesh):
    for block in model.blocks:
        fully_shard(block, mesh=mesh)
    return fully_shard(model, mesh=mesh)


@torch.no_grad()
def validate(model, loader):
    error = torch.zeros(2)
    for kinds, places, energies in loader:
        error += torch.tensor([(model(kinds, places) - energies).abs().sum().item(), len(energies)])
    dist.all_reduce(error)
    return (error[0] / error[1]).item()


def main():
    cfg = config()
    dist.init_process_group("gloo")
    torch.set_num_threads(1)
    rank = dist.get_rank()
    mesh = init_device_mesh("cpu", (dist.get_world_size(),), mesh_dim_names=("shard",))

    torch.manual_seed(0)
    model = EnergyNet(cfg.width, depth=cfg.depth)
    average = WeightAverage(model)
    model = parallelize(model, mesh)
    optimizer = torch.optim.AdamW(model.parameters(), lr=cfg.lr)

    data, held = Conformers(), Conformers(count=96, seed=9)
    sampler = DistributedSampler(data, shuffle=True)
    loader = DataLoader(data, cfg.batch, sampler=sampler)
    held_loader = DataLoader(held, cfg.batch, sampler=DistributedSampler(held, shuffle=False))
    if rank == 0:
        print(json.dumps(asdict(cfg)), flush=True)

    step = 0
    for epoch in range(cfg.epochs):
        sampler.set_epoch(epoch)
        for kinds, places, energies in loader:
            loss = torch.nn.functional.smooth_l1_loss(model(kinds, places), energies)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), cfg.clip)
            optimizer.step()
            optimizer.zero_grad()
            step += 1
            if step >= cfg.average_from and step % cfg.average_every == 0:
                average.update(model, step)
        mae = validate(average.model, held_loader)
        if rank == 0:
            print(f"epoch {epoch} step {step} loss {loss.item():.4f} mae {mae:.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
