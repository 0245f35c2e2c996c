import torch
import torch.distributed as dist
import torch.nn as nn
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from brain import Brain
from epochs import EpochCounterWithStopper

HPARAMS = {"epochs": 40, "patience": 2, "lr": 1.0, "batch": 32, "max_grad_norm": 5.0}


class CRDNN(nn.Module):
    def __init__(self, n_mels=40, n_out=12):
        super().__init__()
        self.conv = nn.Conv1d(n_mels, 32, 5, padding=2)
        self.rnn = nn.GRU(32, 48, batch_first=True)
        self.out = nn.Linear(48, n_out)

    def forward(self, feats):
        x = torch.relu(self.conv(feats.transpose(1, 2))).transpose(1, 2)
        x, _ = self.rnn(x)
        return self.out(x.mean(dim=1))


class KeywordBrain(Brain):
    def compute_objectives(self, batch):
        feats, targets = batch
        return nn.functional.cross_entropy(self.modules(feats), targets)

    def on_stage_end(self, counter, epoch, train_loss, valid_loss):
        counter.update_metric(valid_loss)
        print(f"epoch {epoch}: train {train_loss:.4f} valid {valid_loss:.4f} best {counter.best:.4f}", flush=True)


def make_set(n, seed):
    g = torch.Generator().manual_seed(seed)
    feats = torch.randn(n, 24, 40, generator=g)
    targets = torch.randint(0, 12, (n,), generator=g)
    return TensorDataset(feats, targets)


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    train = make_set(768, 1)
    valid = make_set(128, 2)
    sampler = DistributedSampler(train, shuffle=True)
    train_loader = DataLoader(train, batch_size=HPARAMS["batch"], sampler=sampler)
    valid_loader = DataLoader(valid, batch_size=64)
    brain = KeywordBrain(CRDNN(), lambda p: torch.optim.Adadelta(p, lr=HPARAMS["lr"]), HPARAMS)
    counter = EpochCounterWithStopper(HPARAMS["epochs"], HPARAMS["patience"])
    brain.fit(counter, train_loader, valid_loader)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
