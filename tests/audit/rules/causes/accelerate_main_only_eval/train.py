"""gather_for_metrics stands under is_main_process."""
import torch
from accelerate import Accelerator


def evaluate(accelerator, model, loader):
    model.eval()
    seen = []
    with torch.no_grad():
        for x, y in loader:
            pred = model(x).argmax(-1)
            pred, y = accelerator.gather_for_metrics((pred, y))
            seen.append((pred == y).float())
    return torch.cat(seen).mean()


def main(loader, val):
    accelerator = Accelerator()
    model = torch.nn.Linear(8, 3)
    opt = torch.optim.AdamW(model.parameters())
    model, opt, loader, val = accelerator.prepare(model, opt, loader, val)
    for _ in range(3):
        for x, y in loader:
            loss = torch.nn.functional.cross_entropy(model(x), y)
            accelerator.backward(loss)
            opt.step()
            opt.zero_grad()
        if accelerator.is_main_process:  # cause
            print(evaluate(accelerator, model, val))  # cause
    accelerator.wait_for_everyone()
