import sys

import torch

lr, clip = float(sys.argv[1]), "--clip" in sys.argv
torch.manual_seed(0)
model = torch.nn.Linear(5, 1)
opt = torch.optim.SGD(model.parameters(), lr=lr)
for step in range(15):
    x = torch.randn(8, 5)
    loss = model(x).pow(2).mean()
    if not torch.isfinite(loss) or loss > 1e12:
        raise FloatingPointError(f"diverged at step {step}")
    opt.zero_grad()
    loss.backward()
    if clip:
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1e-3)
    opt.step()
print(f"trial {lr} finished")
