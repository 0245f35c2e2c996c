import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self, bands, hidden, classes):
        super().__init__()
        self.conv = nn.Conv1d(bands, hidden, 5, padding=2)
        self.rnn = nn.GRU(hidden, hidden, bidirectional=True, batch_first=True)
        self.out = nn.Linear(2 * hidden, classes)

    def forward(self, x):
        h = self.conv(x.transpose(1, 2)).relu().transpose(1, 2)
        return self.out(self.rnn(h)[0]).log_softmax(-1)


def edit_distance(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        prev, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            prev, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, prev + (x != y))
    return row[-1]


class Brain:
    def __init__(self, model, opt, sched, accumulation):
        self.model, self.opt, self.sched = model, opt, sched
        self.grad_accumulation_factor = accumulation
        self.ctc = nn.CTCLoss(blank=0)
        self.optimizer_step = 0

    def compute_loss(self, batch):
        x, lens, targets, tlens = batch
        return self.ctc(self.model(x).transpose(0, 1), targets, lens, tlens)

    def fit_batch(self, batch):
        self.step += 1
        should_step = self.step % self.grad_accumulation_factor == 0
        loss = self.compute_loss(batch)
        (loss / self.grad_accumulation_factor).backward()
        if should_step:
            nn.utils.clip_grad_norm_(self.model.parameters(), 5.0)
            self.opt.step()
            self.opt.zero_grad(set_to_none=True)
            self.sched.step()
            self.optimizer_step += 1
        return loss.item()

    def on_stage_start(self):
        self.step = 0
        self.model.train()
        self.opt.zero_grad(set_to_none=True)

    def fit(self, epochs, train, dev):
        for epoch in range(1, epochs + 1):
            self.on_stage_start()
            losses = [self.fit_batch(b) for b in train]
            print(f"epoch {epoch} train loss {sum(losses) / len(losses):.3f} updates {self.optimizer_step} "
                  f"dev PER {self.evaluate(dev):.3f} lr {self.opt.param_groups[0]['lr']:.1e}", flush=True)

    @torch.no_grad()
    def evaluate(self, loader):
        self.model.eval()
        errors = total = 0
        for x, lens, targets, tlens in loader:
            best = self.model(x).argmax(-1)
            for row, n, ref in zip(best, lens, targets.split(tlens.tolist())):
                hyp = [int(v) for v in torch.unique_consecutive(row[:n]) if v != 0]
                errors += edit_distance(hyp, ref.tolist())
                total += len(ref)
        return errors / total
