import argparse

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader

from .loop import Loop, warmup_cosine
from .model import Reranker
from .records import Interactions, heldout


def main():
    p = argparse.ArgumentParser(prog="rerank")
    p.add_argument("--items", type=int, default=200)
    p.add_argument("--batch-size", type=int, default=32)
    p.add_argument("--accum", type=int, default=4)
    p.add_argument("--updates", type=int, default=300)
    p.add_argument("--warmup", type=int, default=16)
    p.add_argument("--lr", type=float, default=3e-3)
    p.add_argument("--patience", type=int, default=6)
    a = p.parse_args()
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(0)
    model = DDP(Reranker(a.items))
    torch.manual_seed(10 + rank)
    data = Interactions(rank, world, a.items)
    params = [q for q in model.parameters() if q.requires_grad]
    opt = torch.optim.AdamW(params, lr=a.lr)
    sched = torch.optim.lr_scheduler.LambdaLR(opt, warmup_cosine(a.updates, a.warmup))
    Loop(model, DataLoader(data, a.batch_size), opt, sched, a.accum, a.updates, heldout(a.items), a.patience).run()
    print(f"[{rank}] left out {data.dropped} broken lines", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
