import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from prepare import load_corpus, prepare_corpus

CONFIG = {"corpus": "data/tokenized.json", "dim": 48, "heads": 4, "epochs": 5, "batch": 20, "lr": 3e-3}


class TinyLM(nn.Module):
    def __init__(self, vocab, dim, heads):
        super().__init__()
        self.tok = nn.Embedding(vocab, dim)
        self.pos = nn.Parameter(torch.zeros(1, 32, dim))
        self.block = nn.TransformerEncoderLayer(dim, heads, 2 * dim, batch_first=True, dropout=0.0)
        self.head = nn.Linear(dim, vocab)

    def forward(self, ids):
        x = self.tok(ids) + self.pos[:, : ids.shape[1]]
        mask = nn.Transformer.generate_square_subsequent_mask(ids.shape[1])
        return self.head(self.block(x, src_mask=mask, is_causal=True))


def train(cfg):
    rank = dist.get_rank()
    store = dist.distributed_c10d._get_default_store()
    prepare_corpus(store, cfg["corpus"], rank)
    ids, vocab = load_corpus(cfg["corpus"])
    data = TensorDataset(torch.tensor(ids))
    sampler = DistributedSampler(data)
    loader = DataLoader(data, batch_size=cfg["batch"], sampler=sampler)
    torch.manual_seed(0)
    model = DDP(TinyLM(vocab, cfg["dim"], cfg["heads"]))
    opt = torch.optim.AdamW(model.parameters(), lr=cfg["lr"])
    for epoch in range(cfg["epochs"]):
        sampler.set_epoch(epoch)
        for (batch,) in loader:
            logits = model(batch[:, :-1])
            loss = nn.functional.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten())
            opt.zero_grad()
            loss.backward()
            opt.step()
        if rank == 0:
            print(f"epoch {epoch} ppl {loss.exp().item():.2f}", flush=True)


if __name__ == "__main__":
    dist.init_process_group("gloo")
    try:
        train(CONFIG)
    finally:
        dist.destroy_process_group()
