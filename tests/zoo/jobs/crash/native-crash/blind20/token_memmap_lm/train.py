import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

from lm.batches import WindowSampler
from lm.corpus import Corpus
from lm.model import GruLM, lm_loss
from lm.options import parse
from lm.store import PackedStore


def run_epoch(model, optimizer, sampler, steps):
    total = 0.0
    for _ in range(steps):
        inputs, targets = sampler.draw()
        loss = lm_loss(model(inputs), targets)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        total += loss.item()
    return total / steps


def main():
    args = parse()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(args.seed)
    store = PackedStore(Corpus(args.documents, args.vocab, args.seed), args.workdir)
    sampler = WindowSampler(store, args.seq_len, args.batch_size, rank, args.seed)
    model = DDP(GruLM(args.vocab, args.dim))
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        store.prepare(args.min_lengths[min(epoch, len(args.min_lengths) - 1)])
        loss = run_epoch(model, optimizer, sampler, args.steps_per_epoch)
        if rank == 0:
            print(f"epoch {epoch}: documents >= {store.stage}, {len(store)} tokens, loss {loss:.4f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
