import argparse

import torch
from optim import Optim


def build_optim(opt, model, checkpoint):
    optim = Optim(opt.method, opt.lr)
    if checkpoint is not None:
        optim.set_parameters(model.named_parameters())
        optim.load_state_dict(checkpoint["optim"])
    optim.set_parameters(model.named_parameters())
    return optim


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--method", default="adam")
    parser.add_argument("--lr", type=float, default=1e-3)
    parser.add_argument("--resume")
    opt = parser.parse_args()
    checkpoint = torch.load(opt.resume) if opt.resume else None
    model = torch.nn.Linear(8, 2)
    if checkpoint is not None:
        model.load_state_dict(checkpoint["model"])
    optim = build_optim(opt, model, checkpoint)
    for step in range(1000):
        model(torch.randn(4, 8)).sum().backward()
        optim.step()
        if step % 100 == 0:
            torch.save({"model": model.state_dict(), "optim": optim.state_dict()}, "last.pt")


main()
