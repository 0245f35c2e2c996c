import argparse

import torch

from net import Net


def build(config, path_of_states):
    model = Net(config.width)
    if config.checkpoint:
        model.load_state_dict(torch.load(path_of_states, weights_only=True))
    return model


class Trainer:
    def __init__(self, options):
        self.options = options
        if self.options.checkpoint:
            saved = torch.load(self.options.checkpoint + "/state.pt")
            self.options = argparse.Namespace(**saved["options"])
        self.model = build(self.options, "states.pt")
