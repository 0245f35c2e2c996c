class Ema:
    def __init__(self, model, decay=0.99):
        self.decay = decay
        self.shadow = {n: p.detach().clone() for n, p in model.named_parameters()}

    @classmethod
    def from_state(cls, state, model):
        ema = cls(model, state["decay"])
        ema.shadow = state["shadow"]
        return ema

    def load(self, state):
        self.shadow = state["shadow"]

    def update(self, model):
        for n, p in model.named_parameters():
            self.shadow[n].lerp_(p.detach(), 1 - self.decay)

    def state(self):
        return {"decay": self.decay, "shadow": self.shadow}
