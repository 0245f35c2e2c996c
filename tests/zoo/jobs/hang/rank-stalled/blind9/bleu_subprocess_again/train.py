import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


@dataclass
class Config:
    vocab: int = 50
    steps: int = 120
    eval_every: int = 40
    beam_rows: int = 600


class ExternalScorer:
    def __init__(self, cfg):
        self.cfg = cfg
        self.rows = 0

    def __call__(self, model, step):
        n = self.cfg.beam_rows * (step // self.cfg.eval_every)
        ids = torch.randint(0, self.cfg.vocab, (n, 10))
        with torch.no_grad():
            hyp = model(ids).argmax(-1)
        path = Path(tempfile.mkdtemp()) / "rows.json"
        path.write_text(json.dumps(list(zip(hyp.tolist(), ids.tolist()))))
        proc = subprocess.Popen([sys.executable, "score.py", str(path)], stdout=subprocess.PIPE, text=True)
        if proc.wait() != 0:
            raise RuntimeError("scorer failed")
        return json.loads(proc.stdout.read().splitlines()[-1])["bleu"]


def main(cfg):
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    net = nn.Sequential(nn.Embedding(cfg.vocab, 24), nn.Linear(24, cfg.vocab))
    model = DDP(net)
    opt = torch.optim.Adam(model.parameters(), lr=3e-3)
    scorer = ExternalScorer(cfg)
    for step in range(1, cfg.steps + 1):
        ids = torch.randint(0, cfg.vocab, (16, 10))
        loss = nn.functional.cross_entropy(model(ids).flatten(0, 1), ids.flatten())
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % cfg.eval_every == 0:
            score = torch.zeros(1)
            if dist.get_rank() == 0:
                score.fill_(scorer(net, step))
            dist.broadcast(score, 0)
            print(f"[{dist.get_rank()}] step {step} loss {loss.item():.3f} bleu {score.item():.3f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main(Config())
