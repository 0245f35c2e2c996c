import argparse
import os

import torch

device = "cuda" if torch.cuda.is_available() else "cpu"


def fit(model):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model(torch.ones(2, 4, device=device)).mean().backward()
    optimizer.step()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--gpus", default=None)
    args = parser.parse_args()
    if args.gpus is not None:
        os.environ["CUDA_VISIBLE_DEVICES"] = args.gpus
    fit(torch.nn.Linear(4, 1).to(device))
