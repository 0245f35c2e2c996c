import argparse
import itertools
import os

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader

from stream import JsonlStream


def bytes_tokenizer(text):
    return list(text.encode("utf-8")) + [0]


class TinyLM(torch.nn.Module):
    def __init__(self, dim=512, depth=6, vocab=256, ctx=1024):
        super().__init__()
        self.tok = torch.nn.Embedding(vocab, dim)
        self.pos = torch.nn.Embedding(ctx, dim)
        layer = torch.nn.TransformerEncoderLayer(dim, 8, 4 * dim, batch_first=True, norm_first=True)
        self.blocks = torch.nn.TransformerEncoder(layer, depth, enable_nested_tensor=False)
        self.head = torch.nn.Linear(dim, vocab, bias=False)

    def forward(self, ids):
        t = ids.shape[1]
        mask = torch.nn.Transformer.generate_square_subsequent_mask(t, device=ids.device)
        h = self.tok(ids) + self.pos(torch.arange(t, device=ids.device))
        return self.head(self.blocks(h, mask=mask, is_causal=True))


def main(args):
    dist.init_process_group("nccl")
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    data = JsonlStream(args.glob, bytes_tokenizer, args.seq_len, seed=args.seed, rank=dist.get_rank(), world=dist.get_world_size())
    loader = DataLoader(data, batch_size=args.batch_size, num_workers=args.workers, drop_last=True)
    model = DDP(TinyLM(ctx=args.seq_len).cuda(), device_ids=[local])
    opt = torch.optim.AdamW(model.parameters(), lr=args.lr, betas=(0.9, 0.95))
    step = 0
    for ids in itertools.islice(loader, args.steps):
        ids = ids.cuda(non_blocking=True)
        loss = F.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
        step += 1
    dist.destroy_process_group()


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("glob")
    ap.add_argument("--seq-len", type=int, default=1024)
    ap.add_argument("--batch-size", type=int, default=8)
    ap.add_argument("--workers", type=int, default=4)
    ap.add_argument("--steps", type=int, default=100_000)
    ap.add_argument("--lr", type=float, default=3e-4)
    ap.add_argument("--seed", type=int, default=17)
    main(ap.parse_args())
