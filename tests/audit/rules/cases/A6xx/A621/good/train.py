import torch
import yaml


def main(path="conf/base.yaml"):
    config = yaml.safe_load(open(path))
    return torch.optim.SGD(
        torch.nn.Linear(8, 8).parameters(), lr=config["lr"], weight_decay=float(config["weight_decay"])
    )
