import torch


class Warmup:
    def __init__(self, optimizer, steps):
        self.param_groups = optimizer.param_groups
        self.steps = steps

    def step(self, now):
        for at, _ in enumerate(self.param_groups):
            self.param_groups[at]["lr"] = 0.1 * min(1.0, now / self.steps)


class Trainer:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        self.warmup = Warmup(self.optimizer, 100)

    def resume(self, path):
        state = torch.load(path, map_location="cpu")
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])


def main(model, batches, path):
    trainer = Trainer(model)
    trainer.resume(path)
    for now, batch in enumerate(batches):
        trainer.optimizer.zero_grad()
        model(batch).mean().backward()
        trainer.optimizer.step()
        trainer.warmup.step(now)
