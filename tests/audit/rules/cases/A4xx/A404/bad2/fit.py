import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--init")
args = parser.parse_args()
model = nn.Linear(2, 2)
model.load_state_dict(torch.load(args.init))
rows = torch.load("rows.pt")
