import sys

import torch

lr = float(sys.argv[2])
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(6, 6), torch.nn.Linear(6, 1))
opt = torch.optim.SGD(model.parameters(), lr=lr)
for step in range(12):
    x = torch.randn(16, 6)
    loss = (model(x) - x.sum(1, keepdim=True)).pow(2).mean()
    if not torch.isfinite(loss) or loss > 1e6:
        sys.exit(42)
    opt.zero_grad()
    loss.backward()
    opt.step()
print(f"trained with lr {lr}")
