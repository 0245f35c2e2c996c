import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


class Recognizer(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(12, 24)
        self.out = nn.Linear(24, 29)

    def forward(self, x):
        return self.out(self.rnn(x)[0]).log_softmax(-1)


class Brain:
    def __init__(self, hparams):
        self.hparams = hparams
        self.model = DDP(Recognizer())
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=hparams["lr"])
        self.ctc = nn.CTCLoss(blank=28, zero_infinity=True)

    def fit_batch(self, batch):
        x, x_len, y, y_len = batch
        loss = self.ctc(self.model(x), y, x_len, y_len)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.detach()

    def fit(self, make_batches):
        for epoch in range(self.hparams["epochs"]):
            for step, batch in enumerate(make_batches()):
                loss = self.fit_batch(batch)
            if dist.get_rank() == 0:
                print("epoch", epoch, float(loss), flush=True)
