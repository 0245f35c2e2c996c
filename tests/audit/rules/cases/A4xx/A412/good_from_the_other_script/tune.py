import argparse

import torch

from pretrain import Net


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--weights", default="out/tuned.pt")
    args = parser.parse_args()
    model = Net()
    model.load_state_dict(torch.load(args.weights, map_location="cpu"), strict=False)
    torch.save(model.state_dict(), "out/tuned.pt")


if __name__ == "__main__":
    main()
