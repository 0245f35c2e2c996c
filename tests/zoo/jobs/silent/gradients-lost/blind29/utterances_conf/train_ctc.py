import argparse
import json
import logging
import tempfile
from pathlib import Path

import torch
import torch.nn as nn
from torch.utils.data import DataLoader

from acoustic import CTCModel
from features import Utterances, collate

logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s")
log = logging.getLogger("ctc")

DEFAULTS = {"subsampling": 8, "dim": 64, "lr": 3e-3, "epochs": 6, "batch_size": 32, "clip": 5.0, "zero_infinity": True}


class Executor:
    def __init__(self, conf, out):
        self.conf, self.out, self.step = conf, Path(out), 0
        self.model = CTCModel(dim=conf["dim"], subsampling=conf["subsampling"])
        self.criterion = nn.CTCLoss(blank=0, zero_infinity=conf["zero_infinity"])
        self.optim = torch.optim.Adam(self.model.parameters(), lr=conf["lr"])
        self.warm = torch.optim.lr_scheduler.LambdaLR(self.optim, lambda s: min(1.0, (s + 1) / 30))

    def loss(self, batch):
        frames, frame_lengths, labels, label_lengths = batch
        log_probs, out_lengths = self.model(frames, frame_lengths)
        return self.criterion(log_probs.transpose(0, 1), labels, out_lengths, label_lengths)

    def train(self, loader):
        self.model.train()
        total = 0.0
        for batch in loader:
            loss = self.loss(batch)
            self.optim.zero_grad()
            loss.backward()
            norm = nn.utils.clip_grad_norm_(self.model.parameters(), self.conf["clip"])
            if torch.isfinite(norm):
                self.optim.step()
            self.warm.step()
            self.step += 1
            total += loss.item()
            if self.step % 20 == 0:
                log.info("step %d loss %.3f grad norm %.2f", self.step, loss.item(), norm)
        return total / len(loader)

    @torch.no_grad()
    def cv(self, loader):
        self.model.eval()
        return sum(self.loss(b).item() for b in loader) / len(loader)

    def save(self, epoch, cv_loss):
        torch.save(self.model.state_dict(), self.out / f"{epoch}.pt")
        (self.out / f"{epoch}.json").write_text(json.dumps({"epoch": epoch, "cv_loss": cv_loss, "step": self.step}))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--conf", help="JSON with values other than the defaults")
    p.add_argument("--utterances", type=int, default=1200)
    p.add_argument("--seed", type=int, default=777)
    args = p.parse_args()
    conf = dict(DEFAULTS)
    if args.conf:
        conf.update(json.loads(Path(args.conf).read_text()))
    torch.manual_seed(args.seed)
    torch.set_num_threads(1)
    train = DataLoader(Utterances(args.utterances, seed=1), conf["batch_size"], shuffle=True, collate_fn=collate)
    cv = DataLoader(Utterances(200, seed=2), conf["batch_size"], collate_fn=collate)
    with tempfile.TemporaryDirectory() as out:
        ex = Executor(conf, out)
        for epoch in range(conf["epochs"]):
            train_loss = ex.train(train)
            cv_loss = ex.cv(cv)
            ex.save(epoch, cv_loss)
            log.info("epoch %d train %.4f cv %.4f", epoch, train_loss, cv_loss)
    log.info("done")


if __name__ == "__main__":
    main()
