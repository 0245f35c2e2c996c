import pathlib

import torch
import torch.distributed as dist
import torch.nn as nn
import yaml

from es.cartpole import CartPoleBatch
from es.population import Population


def set_gradients(parameters, flat):
    offset = 0
    for p in parameters:
        p.grad = flat[offset: offset + p.numel()].view_as(p).clone()
        offset += p.numel()


def main():
    config = yaml.safe_load(pathlib.Path(__file__).with_name("config.yaml").read_text())
    dist.init_process_group("gloo")
    torch.manual_seed(config["seed"])
    env = CartPoleBatch(config["episodes"], config["horizon"])
    policy = nn.Sequential(nn.Linear(4, config["width"]), nn.Tanh(), nn.Linear(config["width"], 1))
    for p in policy.parameters():
        p.requires_grad_(False)
    population = Population(policy, env, config)
    optimizer = torch.optim.AdamW(policy.parameters(), lr=config["lr"], weight_decay=config["weight_decay"])
    for generation in range(1, config["generations"] + 1):
        flat, fitness = population.gradient(generation)
        set_gradients(policy.parameters(), flat)
        optimizer.step()
        if generation % 20 == 0 and dist.get_rank() == 0:
            print(f"generation {generation} fitness mean {fitness.mean():.1f} best {fitness.max():.1f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
