import argparse

import deepspeed
import torch


class Loop:
    def __init__(self, args, net):
        self.engine = deepspeed.initialize(args=args, model=net, config=args.config)[0]

    def step(self, x):
        loss = self.engine(x).mean()
        self.engine.backward(loss)
        if self.engine.is_gradient_accumulation_boundary():
            self.engine.step()
        return loss.item()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--config", default="ds.json")
    loop = Loop(parser.parse_args(), torch.nn.Linear(8, 8))
    for x in torch.load("data.pt"):
        print(loop.step(x))
