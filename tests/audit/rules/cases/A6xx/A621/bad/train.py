import sys

import torch
import yaml
from yaml import CLoader


def read(path="conf/base.yml"):
    with open(path) as file:
        return yaml.load(file, Loader=CLoader)


def main():
    config = read(*sys.argv[1:])["optimizer"]
    net = torch.nn.Linear(8, 8)
    torch.optim.AdamW(net.parameters(), lr=config["learning_rate"], weight_decay=config["weight_decay"])
