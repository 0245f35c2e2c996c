import torch
from torch.nn.parallel import DistributedDataParallel


class Loop:
    def __init__(self, net, data, callbacks, batch=24, lr=0.02):
        self.net, self.x, self.y = net, *data
        self.ddp = DistributedDataParallel(net)
        self.optim = torch.optim.SGD(self.ddp.parameters(), lr=lr, nesterov=True, momentum=0.9)
        self.callbacks = callbacks
        self.batch = batch
        self.loss = float("nan")

    def fire(self, event, **info):
        for callback in self.callbacks:
            handler = getattr(callback, event, None)
            if handler is not None:
                handler(self, **info)

    def run(self, epochs):
        self.fire("on_train_begin")
        for epoch in range(epochs):
            for i in range(0, len(self.x), self.batch):
                self.one(self.x[i : i + self.batch], self.y[i : i + self.batch])
                self.fire("on_step_end", step=i // self.batch)
            self.fire("on_epoch_end", epoch=epoch)
        self.fire("on_train_end")

    def one(self, x, y):
        self.optim.zero_grad()
        loss = torch.nn.functional.smooth_l1_loss(self.ddp(x), y)
        loss.backward()
        self.optim.step()
        self.loss = loss.item()
