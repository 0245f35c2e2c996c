import argparse

import torch

from pretrain import Net


def begin(path):
    model = Net()
    model.load_state_dict(torch.load(path, map_location="cpu"), strict=False)
    return model


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--weights", default="out/pretrained.pt")
    args = parser.parse_args()
    model = begin(args.weights).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in torch.load("tune.pt"):
        model(x.cuda()).backward()
        optimizer.step()
    torch.save(model.state_dict(), "out/tuned.pt")


if __name__ == "__main__":
    main()
