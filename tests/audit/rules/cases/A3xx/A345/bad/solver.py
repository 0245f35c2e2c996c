import torch


class WeightAverage:
    def __init__(self, model, decay):
        self.model, self.decay = model, decay
        self.shadow = {name: one.detach().clone() for name, one in model.named_parameters()}
        self.backup = {}

    @torch.no_grad()
    def update(self):
        for name, one in self.model.named_parameters():
            self.shadow[name].lerp_(one.detach(), 1.0 - self.decay)

    @torch.no_grad()
    def apply(self):
        for name, one in self.model.named_parameters():
            self.backup[name] = one.detach().clone()
            one.copy_(self.shadow[name])

    @torch.no_grad()
    def restore(self):
        for name, one in self.model.named_parameters():
            one.copy_(self.backup[name])


class Solver:
    def __init__(self, model, use_average):
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        self.scaler = torch.amp.GradScaler("cuda")
        self.average = WeightAverage(model, 0.999) if use_average else None

    def epoch(self, loader):
        shown = {}
        for x in loader:
            self.optimizer.zero_grad()
            loss = self.model(x).mean()
            self.scaler.scale(loss).backward()
            self.scaler.step(self.optimizer)
            self.scaler.update()
            shown.update(loss=loss.item())
        return shown

    def validate(self, loader):
        if self.average:
            self.average.apply()
        found = sum(self.model(x).mean().item() for x in loader)
        if self.average:
            self.average.restore()
        return found

    def solve(self, loader, held_out):
        for _ in range(10):
            print(self.epoch(loader), self.validate(held_out))
