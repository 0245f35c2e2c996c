import torch
import torch.nn.functional as F


def unwrap(model):
    return getattr(model, "module", model)  # cause


class ContrastiveObjective:
    def __init__(self, temperature=0.07, weight_decay_text=0.0):
        self.temperature = temperature
        self.weight_decay_text = weight_decay_text

    def __call__(self, model, batch):
        net = unwrap(model)  # cause
        image, text = net(batch["pixels"], batch["tokens"])  # cause
        image = F.normalize(image, dim=-1)
        text = F.normalize(text, dim=-1)
        logits = image @ text.t() / self.temperature
        target = torch.arange(len(image), device=image.device)
        return 0.5 * (F.cross_entropy(logits, target) + F.cross_entropy(logits.t(), target))
