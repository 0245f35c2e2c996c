import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from net import Net
from unfreeze import GradualUnfreezing

torch.set_num_threads(1)


def table(n=1600):
    g = torch.Generator().manual_seed(0)
    x = torch.randn(n, 15, generator=g)
    return TensorDataset(x, x[:, 0] * x[:, 1] + x[:, 2:5].sum(1))


def main():
    accelerator = Accelerator(cpu=True)
    set_seed(1)
    model = Net()
    freezing = GradualUnfreezing(model, every=20)
    lr = 5e-3
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=lr)
    loader = DataLoader(table(), batch_size=16, shuffle=True)
    optimizer, loader = accelerator.prepare(optimizer, loader)
    wrapped = accelerator.prepare(model)
    step = 0
    for epoch in range(2):
        for x, y in loader:
            if freezing.before_step(step, optimizer.optimizer, lr):
                wrapped = accelerator.prepare(accelerator.unwrap_model(wrapped))
            loss = nn.functional.smooth_l1_loss(wrapped(x), y)
            accelerator.backward(loss)
            accelerator.clip_grad_norm_(wrapped.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
            step += 1
        mean = accelerator.reduce(loss.detach(), "mean")
        accelerator.print(f"epoch {epoch} step {step} loss {mean.item():.4f} groups {len(optimizer.param_groups)}", flush=True)
    accelerator.end_training()


if __name__ == "__main__":
    main()
