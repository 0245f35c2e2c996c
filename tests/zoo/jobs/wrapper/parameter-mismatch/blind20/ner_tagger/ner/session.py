import torch
import torch.distributed as dist
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel as DDP

from ner.corpus import Treebank
from ner.data import NerData
from ner.readers import ShardedReader
from ner.tagger import BiLstmTagger
from ner.vocab import Vocabulary


class Session:
    def __init__(self, cfg):
        self.cfg, self.rank = cfg, dist.get_rank()
        reader = ShardedReader(Treebank(cfg.sentences, cfg.seed, cfg.dated_from), self.rank, dist.get_world_size())
        self.vocab = Vocabulary.build(reader, cfg.token_slots)
        self.data = NerData(reader, self.vocab, cfg)
        torch.manual_seed(cfg.seed)
        net = BiLstmTagger(cfg.token_slots, len(self.vocab.tags), cfg.dim)
        self.model = DDP(net)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=cfg.lr)

    def run(self):
        for epoch in range(self.cfg.epochs):
            for ids, tags in self.data.loader:
                loss = F.cross_entropy(self.model(ids).flatten(0, 1), tags.flatten(), ignore_index=-100)
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
            if self.rank == 0:
                print(f"epoch {epoch} loss {loss.item():.4f}", flush=True)
