import argparse
import logging

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler

from anchors import NoValidAnchorsError, find_anchors, gather_blocks
from conversations import Conversations, collate

logger = logging.getLogger("draft")


class Draft(nn.Module):
    def __init__(self, vocab, dim, block):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.rnn = nn.GRU(dim, dim, batch_first=True)
        self.heads = nn.ModuleList([nn.Linear(dim, vocab) for _ in range(block)])

    def forward(self, ids, rows, columns):
        hidden, _ = self.rnn(self.emb(ids))
        anchors = hidden[rows, columns]
        return torch.stack([head(anchors) for head in self.heads], dim=1)


def all_ranks_have_valid(flag):
    shared = torch.tensor(int(flag), dtype=torch.int32)
    dist.all_reduce(shared, op=dist.ReduceOp.MIN)
    return bool(shared.item())


def prepare(batch, args):
    try:
        return find_anchors(batch["lengths"], args.block, args.stride)
    except NoValidAnchorsError as error:
        logger.warning("rank %d: %s, batch is skipped", dist.get_rank(), error)
        return None


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=3)
    p.add_argument("--batch-size", type=int, default=6)
    p.add_argument("--accumulate", type=int, default=2)
    p.add_argument("--block", type=int, default=5)
    p.add_argument("--stride", type=int, default=3)
    p.add_argument("--vocab", type=int, default=40)
    p.add_argument("--samples", type=int, default=720)
    p.add_argument("--lr", type=float, default=4e-3)
    args = p.parse_args()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    logging.basicConfig(level=logging.INFO if rank == 0 else logging.WARNING, format="%(message)s")
    torch.manual_seed(3)
    data = Conversations(args.samples, args.vocab, seed=1)
    sampler = DistributedSampler(data, shuffle=True, seed=2)
    sequential = DistributedSampler(data, shuffle=False)
    model = DDP(Draft(args.vocab, 32, args.block))
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        # the first epoch goes by the order of the recordings, as a curriculum
        order = sequential if epoch == 0 else sampler
        order.set_epoch(epoch)
        loader = DataLoader(data, args.batch_size, sampler=order, collate_fn=collate)
        window = skipped = steps = 0
        for batch in loader:
            found = prepare(batch, args)
            if not all_ranks_have_valid(found is not None):
                skipped += 1
                continue
            rows, columns = found
            window += 1
            model.require_backward_grad_sync = window == args.accumulate
            logits = model(batch["input_ids"], rows, columns)
            target = gather_blocks(batch["input_ids"], rows, columns, args.block)
            loss = F.cross_entropy(logits.flatten(0, 1), target.flatten())
            (loss / args.accumulate).backward()
            if window == args.accumulate:
                optimizer.step()
                optimizer.zero_grad(set_to_none=True)
                window, steps = 0, steps + 1
        if window:
            for parameter in model.parameters():
                dist.all_reduce(parameter.grad)
                parameter.grad /= dist.get_world_size()
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            steps += 1
        mean = loss.detach().clone()
        dist.all_reduce(mean)
        logger.info("epoch %d: loss %.4f, %d steps, %d batches skipped", epoch, mean.item() / dist.get_world_size(), steps, skipped)
    dist.barrier()
    if rank == 0:
        torch.save(model.module.state_dict(), "draft.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
