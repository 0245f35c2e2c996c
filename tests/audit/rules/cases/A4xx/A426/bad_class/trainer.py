from torch.optim.lr_scheduler import OneCycleLR


class Trainer:
    def __init__(self, model, optimizer, loader, state):
        self.model, self.optimizer, self.loader = model, optimizer, loader
        self.epoch = state["epoch"]
        self.schedule = OneCycleLR(optimizer, 0.1, total_steps=10_000, last_epoch=self.epoch)

    def run(self):
        for index, batch in enumerate(self.loader):
            loss = self.model(batch)
            loss.backward()
            self.optimizer.step()
            self.schedule.step()
