import torch


class WeightAverage:
    def __init__(self, model, decay=0.9999, warmup=2000):
        self.decay = decay
        self.warmup = warmup
        self.updates = 0
        self.shadow = {
            name: p.detach().clone().float()
            for name, p in model.named_parameters()
            if p.requires_grad
        }

    def _rate(self):
        return min(self.decay, (1 + self.updates) / (self.warmup + self.updates))

    @torch.no_grad()
    def update(self, model):
        self.updates += 1
        d = self._rate()
        for name, p in model.named_parameters():
            if name in self.shadow:
                self.shadow[name].lerp_(p.detach().float(), 1 - d)

    def state_dict(self):
        return {"shadow": self.shadow, "updates": self.updates}

    def copy_to(self, model):
        own = dict(model.named_parameters())
        for name, value in self.shadow.items():
            own[name].data.copy_(value)
