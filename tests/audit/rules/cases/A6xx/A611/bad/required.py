import argparse
import os

import torch

parser = argparse.ArgumentParser()
parser.add_argument("--local_rank", type=int, required=True)
args = parser.parse_args()
torch.nn.Linear(2, 2)(torch.ones(2, 2)).sum().backward()
