"""Trains a tiny detector; each epoch is judged by a process of its own beside the next epoch."""
import os
import shutil
import subprocess
import sys
import tempfile

import torch
from torch import nn

from model import detector
from scenes import scenes

PATIENCE = 1


class Evaluations:
    def __init__(self, work):
        self.work, self.running, self.flat = work, None, 0

    def start(self, net, epoch):
        self.finish()
        path = os.path.join(self.work, f"epoch{epoch}.pt")
        torch.save(net.state_dict(), path)
        self.running = subprocess.Popen([sys.executable, "evaluate.py", path, "--best", os.path.join(self.work, "best.json")])

    def finish(self):
        if self.running is None:
            return
        code = self.running.wait()
        self.running = None
        if code == 3:
            self.flat += 1
        elif code == 0:
            self.flat = 0
        else:
            raise subprocess.CalledProcessError(code, "evaluate.py")

    @property
    def exhausted(self):
        return self.flat >= PATIENCE

    def __del__(self):
        os.rmdir(self.work)


def main(epochs=6):
    torch.set_num_threads(1)
    torch.manual_seed(0)
    work = tempfile.mkdtemp(prefix="detector-")
    evaluations = Evaluations(work)
    net = detector()
    optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
    for epoch in range(epochs):
        for _ in range(20):
            image, kind, box = scenes(32)
            out = net(image)
            loss = nn.functional.cross_entropy(out[:, :4], kind) + (out[:, 4:] - box).abs().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        evaluations.start(net, epoch)
        if evaluations.exhausted:
            print(f"no progress in {PATIENCE} evaluations: stop after epoch {epoch}", flush=True)
            break
    evaluations.finish()
    shutil.rmtree(work)
    print("finished", flush=True)


if __name__ == "__main__":
    main()
