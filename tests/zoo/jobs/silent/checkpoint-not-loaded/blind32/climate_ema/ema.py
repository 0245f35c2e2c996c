import torch


class EMATracker:
    """Exponential moving average of the weights, with a quicker decay in the first updates."""

    def __init__(self, model, decay, faster_decay_at_start=True):
        self.decay = decay
        self.faster_decay_at_start = faster_decay_at_start
        self.num_updates = 0
        self.average = {n: p.detach().clone() for n, p in model.named_parameters()}
        self._kept = None

    def __call__(self, model):
        self.num_updates += 1
        decay = self.decay
        if self.faster_decay_at_start:
            decay = min(decay, (1 + self.num_updates) / (10 + self.num_updates))
        with torch.no_grad():
            for n, p in model.named_parameters():
                self.average[n].lerp_(p, 1 - decay)

    def __enter__(self):
        self._kept = {n: p.detach().clone() for n, p in self._model.named_parameters()}
        self._copy(self.average)

    def __exit__(self, *exc):
        self._copy(self._kept)
        self._kept = None

    def applied_to(self, model):
        self._model = model
        return self

    def _copy(self, source):
        with torch.no_grad():
            for n, p in self._model.named_parameters():
                p.copy_(source[n])

    def get_state(self):
        return {"decay": self.decay, "num_updates": self.num_updates, "average": self.average,
                "faster_decay_at_start": self.faster_decay_at_start}

    @classmethod
    def from_state(cls, state, model):
        ema = cls(model, state["decay"], state["faster_decay_at_start"])
        ema.num_updates = state["num_updates"]
        ema.average = {n: v.clone() for n, v in state["average"].items()}
        return ema


def build_ema(config, model):
    return EMATracker(model, **config["ema"])
