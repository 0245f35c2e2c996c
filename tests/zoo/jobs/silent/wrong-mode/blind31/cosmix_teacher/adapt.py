import argparse
import itertools
import logging

import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader

from networks import MomentumUpdater, SegNet
from scans import make_scans

logging.basicConfig(format="%(asctime)s %(message)s", level=logging.INFO, datefmt="%H:%M:%S")
log = logging.getLogger("adapt")


def miou(model, loader, classes=3):
    model.eval()
    inter, union = torch.zeros(classes), torch.zeros(classes)
    with torch.no_grad():
        for x, y in loader:
            p = model(x).argmax(1)
            for c in range(classes):
                inter[c] += ((p == c) & (y == c)).sum()
                union[c] += ((p == c) | (y == c)).sum()
    return (inter / union.clamp(min=1)).mean().item()


class Adapter:
    def __init__(self, args):
        self.args = args
        self.student, self.teacher = SegNet(), SegNet()
        self.updater = MomentumUpdater(args.tau)
        self.updater.initialize(self.student, self.teacher)
        self.teacher.eval()
        self.opt = torch.optim.SGD(self.student.parameters(), lr=args.lr, momentum=0.9, weight_decay=1e-4)

    def pseudo_labels(self, x):
        with torch.no_grad():
            prob = self.teacher(x).softmax(1)
        conf, label = prob.max(1)
        label[conf < self.args.threshold] = -1
        return label

    def mix(self, xs, ys, xt, yt):
        rows = torch.rand(xs.size(0), 1, 1) < 0.5
        m = torch.zeros_like(ys, dtype=torch.bool)
        m[:, ::4] = True
        m = m ^ rows
        return torch.where(m.unsqueeze(1), xs, xt), torch.where(m, ys, yt)

    def step(self, source, target, epoch):
        xs, ys = source
        loss = F.cross_entropy(self.student(xs), ys)
        used = 0.0
        if epoch >= self.args.warmup:
            yt = self.pseudo_labels(target[0])
            used = (yt >= 0).float().mean().item()
            xm, ym = self.mix(xs, ys, target[0], yt)
            loss = loss + F.cross_entropy(self.student(xm), ym, ignore_index=-1)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        self.updater.update(self.student, self.teacher)
        return loss.item(), used

    def fit(self, source, target, val):
        for epoch in range(self.args.epochs):
            self.student.train()
            tot, frac, n = 0.0, 0.0, 0
            for s, t in zip(source, itertools.cycle(target)):
                loss, used = self.step(s, t, epoch)
                tot, frac, n = tot + loss, frac + used, n + 1
            log.info("epoch %d loss %.4f pseudo %.2f teacher mIoU %.3f", epoch, tot / n, frac / n,
                     miou(self.teacher, val))
        torch.save({"teacher": self.teacher.state_dict(), "student": self.student.state_dict()}, "adapted.pt")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=8)
    p.add_argument("--warmup", type=int, default=3)
    p.add_argument("--batch-size", type=int, default=16)
    p.add_argument("--lr", type=float, default=0.05)
    p.add_argument("--tau", type=float, default=0.95)
    p.add_argument("--threshold", type=float, default=0.7)
    args = p.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    source = DataLoader(make_scans(480, 1), args.batch_size, shuffle=True, drop_last=True)
    target = DataLoader(make_scans(480, 2, gain=0.8, bias=0.3), args.batch_size, shuffle=True, drop_last=True)
    val = DataLoader(make_scans(96, 3, gain=0.8, bias=0.3), 48)
    Adapter(args).fit(source, target, val)


if __name__ == "__main__":
    main()
