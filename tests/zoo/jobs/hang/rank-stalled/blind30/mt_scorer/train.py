import argparse
import os
import re
import subprocess
import sys

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

from seq2seq import PAD, CipherPairs, Seq2Seq, decode


def external_score(hyp_path, ref_path):
    cmd = [sys.executable, os.path.join("tools", "score_chrf.py"), hyp_path, ref_path]
    proc = subprocess.Popen(cmd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    code = proc.wait()
    lines = proc.stdout.read().splitlines()
    if code != 0:
        print(f"scorer returned {code}: {lines[-3:]}", flush=True)
        return None
    match = re.search(r"chrF2 = ([\d.]+)", lines[-1])
    return float(match.group(1))


class Trainer:
    def __init__(self, args, rank):
        self.args, self.rank = args, rank
        self.train_set = CipherPairs(args.train_size, seed=1)
        self.test_sets = {"dev": CipherPairs(args.dev_size, seed=2), "test": CipherPairs(args.test_size, seed=3)}
        self.sampler = DistributedSampler(self.train_set, shuffle=True, seed=args.seed)
        self.loader = DataLoader(self.train_set, batch_size=args.batch_size, sampler=self.sampler, drop_last=True)
        torch.manual_seed(args.seed)
        self.net = Seq2Seq(args.dim)
        self.model = DDP(self.net)
        self.opt = torch.optim.Adam(self.model.parameters(), lr=args.lr)
        self.best = -1.0

    def train_epoch(self, epoch):
        self.model.train()
        self.sampler.set_epoch(epoch)
        total = 0.0
        for src, tgt_in, tgt_out in self.loader:
            logits = self.model(src, tgt_in)
            loss = F.cross_entropy(logits.flatten(0, 1), tgt_out.flatten(), ignore_index=PAD, label_smoothing=0.05)
            self.opt.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.opt.step()
            total += loss.item()
        return total / len(self.loader)

    def evaluate(self, name, epoch):
        """Rank 0 translates and calls the scorer; the others take its number."""
        score = torch.zeros(1)
        if self.rank == 0:
            data = self.test_sets[name]
            self.net.eval()
            base = os.path.join(self.args.out, f"{name}.{epoch}")
            with open(base + ".hyp", "w") as fh, open(base + ".ref", "w") as fr:
                for i in range(0, len(data), 64):
                    idx = range(i, min(i + 64, len(data)))
                    src = torch.stack([data[j][0] for j in idx])
                    for j, ids in zip(idx, self.net.translate(src).tolist()):
                        fh.write(decode(ids) + "\n")
                        fr.write(data.reference(j) + "\n")
            score[0] = external_score(base + ".hyp", base + ".ref") or 0.0
        dist.broadcast(score, src=0)
        return score.item()

    def run(self):
        for epoch in range(self.args.epochs):
            loss = self.train_epoch(epoch)
            dev = self.evaluate("dev", epoch)
            if self.rank == 0:
                print(f"epoch {epoch} loss {loss:.3f} dev chrF {dev:.2f}", flush=True)
            if dev > self.best:
                self.best = dev
                if self.rank == 0:
                    torch.save(self.net.state_dict(), os.path.join(self.args.out, "best.pt"))
        final = self.evaluate("test", self.args.epochs)
        if self.rank == 0:
            print(f"test chrF {final:.2f}", flush=True)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=3)
    p.add_argument("--train-size", type=int, default=1600)
    p.add_argument("--dev-size", type=int, default=400)
    p.add_argument("--test-size", type=int, default=2000)
    p.add_argument("--batch-size", type=int, default=32)
    p.add_argument("--dim", type=int, default=48)
    p.add_argument("--lr", type=float, default=4e-3)
    p.add_argument("--seed", type=int, default=0)
    p.add_argument("--out", default="out")
    args = p.parse_args()
    dist.init_process_group("gloo")
    os.makedirs(args.out, exist_ok=True)
    torch.set_num_threads(1)
    Trainer(args, dist.get_rank()).run()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
