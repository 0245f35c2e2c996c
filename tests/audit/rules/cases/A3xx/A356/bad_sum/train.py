from torch.optim import Adam


class Trainer:
    def __init__(self, model):
        self.model = model

    def configure(self, lr):
        encoder, decoder = [], []
        for name, module in self.model.named_children():
            print(name)
        for name, p in self.model.named_parameters():
            if name.startswith("encoder"):
                encoder += [p]
            else:
                decoder += [p]
        groups = [{"params": encoder, "lr": lr}]
        self.optimizer = Adam(groups)
