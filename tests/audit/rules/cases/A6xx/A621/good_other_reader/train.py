import torch
import yaml
from omegaconf import OmegaConf


def main(path="conf/base.yaml"):
    print(yaml.safe_load(open(path)))
    return torch.optim.SGD(torch.nn.Linear(8, 8).parameters(), lr=OmegaConf.load(path).lr)
