import torch

from net import Net, evaluate, loader


class Trainer:
    def __init__(self):
        self.net = Net()
        self.optimizer = torch.optim.Adam(self.net.parameters())
        self.scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(self.optimizer, factor=0.5, patience=2)

    def fit(self):
        for epoch in range(50):
            for x, y in loader:
                self.optimizer.zero_grad()
                self.net(x, y).backward()
                self.optimizer.step()
            val_acc = evaluate(self.net)
            self.scheduler.step(val_acc)


Trainer().fit()
