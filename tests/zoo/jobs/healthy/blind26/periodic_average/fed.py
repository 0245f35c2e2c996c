import logging
import os
import subprocess
import sys
import tomllib

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters

log = logging.getLogger("fed")


def client_data(rank, size, seed):
    g = torch.Generator().manual_seed(seed + rank)
    x = torch.randn(size, 5, generator=g) + 0.5 * rank
    y = (x.sum(1) + torch.sin(3 * x[:, 0]) > 0.5 * rank * 5).long()
    return x, y


def average_models(model, weight):
    flat = parameters_to_vector(model.parameters()).detach() * weight
    dist.all_reduce(flat)
    vector_to_parameters(flat, model.parameters())


def accuracy(model, x, y):
    with torch.no_grad():
        return (model(x).argmax(1) == y).float().mean()


def client(cfg):
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    logging.basicConfig(level=logging.INFO, format=f"client {rank} %(message)s")
    torch.manual_seed(cfg["run"]["seed"])
    model = nn.Sequential(nn.Linear(5, 24), nn.Tanh(), nn.Linear(24, 2))
    sizes = cfg["clients"]["sizes"]
    x, y = client_data(rank, sizes[rank], cfg["run"]["seed"])
    weight = sizes[rank] / sum(sizes)
    draws = torch.Generator().manual_seed(rank)
    for turn in range(cfg["run"]["rounds"]):
        optimizer = torch.optim.SGD(model.parameters(), lr=cfg["clients"]["lr"], momentum=0.9)
        for _ in range(cfg["run"]["local_steps"]):
            pick = torch.randint(len(x), (cfg["clients"]["batch"],), generator=draws)
            loss = nn.functional.cross_entropy(model(x[pick]), y[pick])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        average_models(model, weight)
        if turn % 5 == 4:
            score = accuracy(model, x, y) * weight
            dist.all_reduce(score)
            log.info("round %d loss %.3f accuracy of all %.3f", turn, loss.item(), score)
    if rank == 0:
        torch.save(model.state_dict(), "averaged.pt")
    dist.barrier()
    dist.destroy_process_group()


def server(path, cfg):
    count = len(cfg["clients"]["sizes"])
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc_per_node={count}", __file__, path]
    result = subprocess.run(command, env=dict(os.environ, FED_ROLE="client"))
    if result.returncode != 0:
        sys.exit(result.returncode)
    model = nn.Sequential(nn.Linear(5, 24), nn.Tanh(), nn.Linear(24, 2))
    model.load_state_dict(torch.load("averaged.pt"))
    x, y = client_data(0, 100, 1234)
    print(f"held-out accuracy {accuracy(model, x, y):.3f}", flush=True)


if __name__ == "__main__":
    config_path = sys.argv[1] if len(sys.argv) > 1 else "settings.toml"
    with open(config_path, "rb") as handle:
        settings = tomllib.load(handle)
    if os.environ.get("FED_ROLE") == "client":
        client(settings)
    else:
        server(config_path, settings)
