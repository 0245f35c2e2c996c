import torch


class Augmenter:
    def __init__(self, cfg):
        self.cfg = cfg

    def __call__(self, inputs, epoch):
        inputs = inputs + self.cfg["noise"] * torch.randn_like(inputs)
        if epoch >= self.cfg["mixup_from_epoch"]:
            alpha = self.cfg["mixup_alpha"]
            weight = torch.distributions.Beta(alpha, alpha).sample((len(inputs), 1))
            inputs = weight * inputs + (1 - weight) * inputs.roll(1, dims=0)
        return inputs
