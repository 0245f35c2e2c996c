import argparse

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset, DistributedSampler

from model import DigitRecognizer


class DigitStrings(Dataset):
    """Spoken digits as feature frames, 20 to 32 frames a digit, 3 to 7 digits a string."""

    def __init__(self, n, seed):
        self.n, self.seed = n, seed
        self.prototypes = torch.randn(10, 20, generator=torch.Generator().manual_seed(0))

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        g = torch.Generator().manual_seed(self.seed * 100003 + i)
        digits = torch.randint(0, 10, (int(torch.randint(3, 8, (), generator=g)),), generator=g)
        frames = []
        for d in digits:
            k = int(torch.randint(20, 33, (), generator=g))
            frames += [self.prototypes[d].expand(k, -1), torch.zeros(4, 20)]
        feats = torch.cat([torch.zeros(4, 20), *frames])
        return feats + 0.5 * torch.randn(feats.shape, generator=g), digits + 1


def collate(batch):
    feats, labels = zip(*batch)
    return (pad_sequence(feats, batch_first=True), torch.tensor([len(f) for f in feats]),
            torch.cat(labels), torch.tensor([len(t) for t in labels]))


def average_gradients(model, world):
    for p in model.parameters():
        if p.grad is not None:
            dist.all_reduce(p.grad)
            p.grad /= world


def edit_distance(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        last, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (x != y))
    return row[-1]


@torch.no_grad()
def error_rate(model, loader):
    model.eval()
    counts = torch.zeros(2)
    for feats, lengths, labels, label_lengths in loader:
        log_probs, out_lengths = model(feats, lengths)
        for hyp, n, ref in zip(log_probs.argmax(-1), out_lengths, labels.split(label_lengths.tolist())):
            tokens = [t for t in torch.unique_consecutive(hyp[:n]).tolist() if t != 0]
            counts += torch.tensor([edit_distance(tokens, ref.tolist()), len(ref)])
    model.train()
    dist.all_reduce(counts)
    return (counts[0] / counts[1]).item()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=5)
    p.add_argument("--batch-size", type=int, default=16)
    p.add_argument("--lr", type=float, default=3e-3)
    args = p.parse_args()
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(0)
    model = DigitRecognizer()
    train_set, dev_set = DigitStrings(512, 1), DigitStrings(128, 2)
    sampler = DistributedSampler(train_set, drop_last=True)
    loader = DataLoader(train_set, args.batch_size, sampler=sampler, collate_fn=collate, drop_last=True)
    dev_loader = DataLoader(dev_set, 32, sampler=DistributedSampler(dev_set, shuffle=False), collate_fn=collate)
    ctc = nn.CTCLoss(blank=0, zero_infinity=True)
    optimizer = torch.optim.Adam(model.parameters(), args.lr)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, args.lr, total_steps=args.epochs * len(loader))
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        total = 0.0
        for feats, lengths, labels, label_lengths in loader:
            optimizer.zero_grad()
            log_probs, out_lengths = model(feats, lengths)
            loss = ctc(log_probs.transpose(0, 1), labels, out_lengths, label_lengths)
            loss.backward()
            average_gradients(model, world)
            nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            optimizer.step()
            scheduler.step()
            total += loss.item()
        cer = error_rate(model, dev_loader)
        if rank == 0:
            print(f"epoch {epoch} ctc loss {total / len(loader):.4f} dev error rate {cer:.3f}", flush=True)
    if rank == 0:
        torch.save(model.state_dict(), "digits.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
