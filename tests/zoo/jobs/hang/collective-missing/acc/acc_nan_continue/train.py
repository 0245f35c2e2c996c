from accelerate import Accelerator
from accelerate.utils import set_seed
import torch
import yaml

from model import make_model
from telescope import make_loader


def run(cfg):
    accelerator = Accelerator(cpu=True)
    set_seed(cfg["seed"])
    model = make_model(cfg)
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg["lr"])
    model, optimizer, loader = accelerator.prepare(model, optimizer, make_loader(cfg))
    for epoch in range(cfg["epochs"]):
        losses = []
        for spectrum, magnitude in loader:
            loss = (model(spectrum).squeeze(1) - magnitude.log10()).abs().mean()
            if not torch.isfinite(loss):
                accelerator.print("skipping a bad batch")
                optimizer.zero_grad()
                continue
            accelerator.backward(loss)
            accelerator.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
            losses.append(loss.detach())
        means = accelerator.gather(torch.stack(losses).mean().reshape(1))
        accelerator.print(f"epoch {epoch} loss {means.mean().item():.3f}")
    accelerator.end_training()


if __name__ == "__main__":
    with open("config.yaml") as f:
        run(yaml.safe_load(f))
