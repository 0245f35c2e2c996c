import argparse
import logging

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from lexicon import Lexicon
from tagger import Tagger, pack
from treebank import Corpus

log = logging.getLogger("tagger")


class Experiment:
    def __init__(self, opts):
        self.opts = opts
        self.rank, self.world = dist.get_rank(), dist.get_world_size()
        self.corpus = Corpus(opts.sentences, opts.seed, self.rank, self.world)
        self.lexicon = Lexicon(opts.min_count).fit(self.corpus.train)
        log.info("[%d] lexicon %d", self.rank, len(self.lexicon))

    def setup(self):
        torch.manual_seed(self.opts.seed)
        self.model = DDP(Tagger(len(self.lexicon), self.opts.tags))
        self.opt = torch.optim.Adam(self.model.parameters(), lr=1e-3)

    def run(self):
        b = self.opts.batch
        for epoch in range(self.opts.epochs):
            for i in range(0, len(self.corpus.train) - b + 1, b):
                x, y = pack(self.lexicon, self.corpus.train[i:i + b], self.opts.tags)
                loss = nn.functional.cross_entropy(self.model(x).flatten(0, 1), y.flatten())
                self.opt.zero_grad()
                loss.backward()
                self.opt.step()
            log.info("[%d] epoch %d loss %.3f", self.rank, epoch, loss.item())


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--sentences", type=int, default=1200)
    p.add_argument("--seed", type=int, default=5)
    p.add_argument("--min-count", type=int, default=2)
    p.add_argument("--tags", type=int, default=17)
    p.add_argument("--batch", type=int, default=20)
    p.add_argument("--epochs", type=int, default=4)
    o = p.parse_args()
    logging.basicConfig(level=logging.INFO)
    dist.init_process_group("gloo")
    e = Experiment(o)
    e.setup()
    e.run()
    dist.destroy_process_group()
