import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from pytorch_tabnet.callbacks import History
from pytorch_tabnet.dataloaders import create_dataloaders
from pytorch_tabnet.network import TabNet


class TabNetClassifier:

    def __init__(self, optimizer_fn=torch.optim.Adam, optimizer_params=None, callbacks=(), **network):
        self.optimizer_fn, self.optimizer_params = optimizer_fn, optimizer_params or {"lr": 2e-2}
        self.network_params = network
        self.callbacks = [History(verbose=5), *callbacks]
        self.rank = dist.get_rank()

    def fit(self, X_train, y_train, eval_set, max_epochs=15, batch_size=1024, num_workers=0, drop_last=True):
        loaders = create_dataloaders(X_train, y_train, *eval_set, batch_size, num_workers, drop_last)
        self.network = DDP(TabNet(X_train.shape[1], **self.network_params))
        self.optimizer = self.optimizer_fn(self.network.parameters(), **self.optimizer_params)
        for callback in self.callbacks:
            callback.on_train_begin(self)
        for epoch in range(max_epochs):
            loaders[0].sampler.set_epoch(epoch)
            logs = {"loss": self._train_epoch(loaders[0]), "valid_accuracy": self._predict_epoch(loaders[1])}
            for callback in self.callbacks:
                callback.on_epoch_end(self, epoch, logs)
        return self

    def _train_epoch(self, loader):
        self.network.train()
        total, count = 0.0, 0
        for X, y in loader:
            loss = nn.functional.cross_entropy(self.network(X), y)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            total, count = total + loss.item() * len(y), count + len(y)
        return total / count if count else 0.0

    @torch.no_grad()
    def _predict_epoch(self, loader):
        self.network.eval()
        hits = sum(int((self.network.module(X).argmax(1) == y).sum()) for X, y in loader)
        return hits / len(loader.dataset)
