import argparse
import os

import torch


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--checkpoint", default="last.pt")
    args = parser.parse_args()
    model = torch.nn.Linear(8, 8)
    if os.path.exists(args.checkpoint):
        model.load_state_dict(torch.load(args.checkpoint))
    for _ in range(10):
        model(torch.zeros(4, 8)).mean().backward()
    torch.save(model.state_dict(), args.checkpoint)


main()
