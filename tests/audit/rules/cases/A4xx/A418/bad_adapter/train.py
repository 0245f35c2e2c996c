import argparse

import torch
from accelerate import Accelerator
from holder import Holder, ready


class Trainer:
    def __init__(self, config):
        self.accelerator = Accelerator(gradient_accumulation_steps=4)
        self.holder = Holder(config, self.accelerator)
        self.optimizer = torch.optim.AdamW(self.holder.model.parameters())
        self.model, self.optimizer = ready(self.accelerator, self.holder.model, self.optimizer)


class Whole:
    def __init__(self, path):
        self.accelerator = Accelerator()
        self.model = torch.nn.Linear(2, 2)
        self._restore(path)

    def _restore(self, path):
        self.accelerator.load_state(path)

    def fit(self):
        model = self.accelerator.prepare_model(self.model)
        model.train()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--resume")
    args = parser.parse_args()
    Trainer(args)
    Whole(args.resume).fit()
