import argparse

import torch
import torch.distributed as dist
from torch import nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler

from corpus import PackedTokens, synth_documents, write_cache

# (documents, mean length) of each phase of the curriculum
PHASES = [(900, 400), (260, 60)]


class TinyLM(nn.Module):
    def __init__(self, vocab, dim):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.rnn = nn.GRU(dim, dim, batch_first=True)
        self.head = nn.Linear(dim, vocab)

    def forward(self, ids):
        return self.head(self.rnn(self.emb(ids))[0])


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--cache", default="cache")
    p.add_argument("--vocab", type=int, default=64)
    p.add_argument("--dim", type=int, default=32)
    p.add_argument("--seq-len", type=int, default=64)
    p.add_argument("--batch-size", type=int, default=16)
    p.add_argument("--steps-per-phase", type=int, default=30)
    p.add_argument("--workers", type=int, default=1)
    return p.parse_args()


def prepare(args, phase, rank):
    if rank == 0:
        n, mean_len = PHASES[phase]
        write_cache(args.cache, synth_documents(n, args.vocab, phase, mean_len))
    dist.barrier()


def make_loader(args):
    data = PackedTokens(args.cache, args.seq_len)
    sampler = DistributedSampler(data, shuffle=True)
    loader = DataLoader(data, args.batch_size, sampler=sampler, num_workers=args.workers,
                        persistent_workers=True, drop_last=True)
    return loader, sampler


def main():
    args = parse()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    prepare(args, 0, rank)
    loader, sampler = make_loader(args)
    model = DDP(TinyLM(args.vocab, args.dim))
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)

    for phase in range(len(PHASES)):
        if phase > 0:
            prepare(args, phase, rank)
        sampler.set_epoch(phase)
        for step, (x, y) in enumerate(loader):
            if step == args.steps_per_phase:
                break
            loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            if rank == 0 and step % 10 == 0:
                print(f"phase {phase} step {step} loss {loss.item():.3f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
