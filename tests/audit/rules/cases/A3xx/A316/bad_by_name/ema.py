import copy


class Averages:
    def __init__(self, model, decay):
        self.module = copy.deepcopy(model)
        self.module.eval()
        self.decay = decay

    def step(self, model):
        own = dict(self.module.named_parameters())
        for name, value in model.named_parameters():
            own[name].data.mul_(self.decay)
        for mine, theirs in zip(self.module.parameters(), model.parameters()):
            mine.data.add_(theirs.data, alpha=1 - self.decay)
