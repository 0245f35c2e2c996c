import torch
import torch.distributed as dist


class Evaluator:
    def __init__(self, classes):
        self.classes = classes
        self.reset()

    def reset(self):
        self.matrix = torch.zeros(self.classes, self.classes, dtype=torch.long)

    def process(self, target, predicted):
        index = target.flatten() * self.classes + predicted.flatten()
        self.matrix += torch.bincount(index, minlength=self.classes ** 2).view(self.classes, self.classes)

    def synchronize(self):
        parts = [None] * dist.get_world_size()
        dist.all_gather_object(parts, self.matrix)
        self.matrix = sum(parts)

    def summarize(self):
        hit = self.matrix.diag().float()
        union = self.matrix.sum(0) + self.matrix.sum(1) - self.matrix.diag()
        return {"miou": (hit / union.clamp(min=1)).mean().item()}


@torch.no_grad()
def inference_on_dataset(model, scenes, evaluator):
    evaluator.reset()
    if len(scenes) == 0:
        return {}
    model.eval()
    for image, target in scenes:
        evaluator.process(target, model.module(image).argmax(1))
    model.train()
    evaluator.synchronize()
    return evaluator.summarize()
