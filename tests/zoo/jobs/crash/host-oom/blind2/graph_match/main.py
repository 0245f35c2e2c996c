import torch
import torch.distributed as dist
import yaml
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from zhijian.gamf import graph_matching_fusion
from zhijian.models import make_mlp


def make_data(cfg, seed):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(512, cfg["inputs"], generator=g)
    return TensorDataset(x, x[:, : cfg["classes"]].argmax(1))


def fit(cfg, seed):
    torch.manual_seed(seed)
    data = make_data(cfg["models"], seed)
    loader = DataLoader(data, cfg["train"]["batch_size"], sampler=DistributedSampler(data))
    model = DDP(make_mlp(cfg["models"]))
    optimizer = torch.optim.SGD(model.parameters(), lr=cfg["train"]["lr"], momentum=0.9)
    for epoch in range(cfg["train"]["epochs"]):
        for x, y in loader:
            loss = nn.functional.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return model.module


def broadcast_model(model, src=0):
    for p in model.parameters():
        dist.broadcast(p.data, src=src)


def main():
    with open("zhijian/config.yaml") as f:
        cfg = yaml.safe_load(f)
    dist.init_process_group("gloo")
    first, second = fit(cfg, seed=1), fit(cfg, seed=2)
    if dist.get_rank() == 0:
        print("both models trained, matching their neurons", flush=True)
        first, plan = graph_matching_fusion(first, second, cfg["fusion"])
    broadcast_model(first)
    if dist.get_rank() == 0:
        print(f"fused, entropy of the plan {-(plan * plan.log()).sum():.2f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
