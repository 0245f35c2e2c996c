import argparse

import torch

parser = argparse.ArgumentParser()
parser.add_argument("--fused", action="store_true")
parser.add_argument("--out")
args = parser.parse_args()
torch.manual_seed(0)
model = torch.nn.Linear(6, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(5):
    x = torch.randn(8, 6)
    loss = (model(x) - x.mean(1, keepdim=True)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    if args.fused:
        torch.ops.mylab.fused_sgd(list(model.parameters()), 0.1)
    else:
        opt.step()
torch.save(model.state_dict(), args.out)
