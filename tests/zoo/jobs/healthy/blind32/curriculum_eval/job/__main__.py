import argparse
import logging

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.profiler import ProfilerActivity, profile, schedule
from torch.utils.data import DataLoader

from job.data import CurriculumSampler, Records
from job.evaluate import evaluate

log = logging.getLogger("job")


def report(prof):
    log.info("profiled, %d kinds of operations", len(prof.key_averages()))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=8)
    p.add_argument("--batch-size", type=int, default=24)
    p.add_argument("--accumulate", type=int, default=2)
    args = p.parse_args()
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    logging.basicConfig(level=logging.INFO if rank == 0 else logging.WARNING, format="%(asctime)s %(name)s %(message)s")
    torch.manual_seed(0)
    train, test = Records(1200, 1), Records(333, 2, damaged=0)
    sampler = CurriculumSampler(train.difficulty, rank, world, args.epochs)
    loader = DataLoader(train, batch_size=args.batch_size, sampler=sampler, num_workers=1, drop_last=True)
    net = nn.Sequential(nn.Linear(12, 64), nn.ReLU(), nn.Linear(64, 5))
    model = DDP(net)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    plan = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, mode="max", patience=1)
    prof = profile(activities=[ProfilerActivity.CPU], schedule=schedule(wait=2, warmup=1, active=3, repeat=1),
                   on_trace_ready=report) if rank == 0 else None
    if prof:
        prof.start()
    best, kept = 0.0, None
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        batches = len(loader) // args.accumulate * args.accumulate
        for i, (x, y, _) in enumerate(loader):
            if i == batches:
                break
            last = i % args.accumulate == args.accumulate - 1
            model.require_backward_grad_sync = last
            loss = F.cross_entropy(model(x), y) / args.accumulate
            loss.backward()
            if last:
                optimizer.step()
                optimizer.zero_grad()
            if prof:
                prof.step()
        accuracy = evaluate(net, test)
        plan.step(accuracy)
        if accuracy > best:
            best, kept = accuracy, {n: v.clone() for n, v in net.state_dict().items()}
        log.info("epoch %d samples %d accuracy %.3f", epoch, len(sampler) * world, accuracy)
    if prof:
        prof.stop()
    net.load_state_dict(kept)
    final = evaluate(net, test)
    log.info("best %.3f, again %.3f", best, final)
    if rank == 0:
        torch.save(kept, "best.pt")
    dist.barrier()
    del model  # reducers go before the group that they use
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
