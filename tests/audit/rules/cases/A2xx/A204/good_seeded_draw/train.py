import random

import torch.distributed as dist
from accelerate.utils import gather_object


class Distiller:
    def __init__(self, args, model):
        self.args = args
        self.model = model
        self.step = 0

    def draw(self):
        """The same number on every rank: of a generator of its own, seeded by the step."""
        seed = int(getattr(self.args, "seed", 0))
        seed += int(self.step)
        generator = random.Random(seed)
        return generator.random()

    def generate(self, prompts):
        return gather_object([self.model.generate(one) for one in prompts])

    def rollout(self, prompts):
        if self.draw() < self.args.share:
            prompts = self.generate(prompts)
        self.step += 1
        return prompts


def main(args, model, loader):
    dist.init_process_group("nccl")
    distiller = Distiller(args, model)
    for prompts in loader:
        distiller.rollout(prompts)
    dist.destroy_process_group()
