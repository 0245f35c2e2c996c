import os
import sys
import tempfile

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from config import TTSConfig
from model import Vocoder, utterances
from preemption import GracefulExit, start_walltime_warning


def save_checkpoint(model, step, rank):
    if rank == 0:
        path = os.path.join(tempfile.gettempdir(), f"tts-{os.environ['TORCHELASTIC_RUN_ID']}.pt")
        torch.save({"step": step, "model": model.module.state_dict()}, path)
        print(f"checkpoint of step {step} is in {path}", flush=True)
    dist.barrier()


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    cfg = TTSConfig()
    model = DistributedDataParallel(Vocoder(cfg))
    optimizer = torch.optim.SGD(model.parameters(), lr=cfg.lr)
    leaving = GracefulExit()
    if rank == 1:
        start_walltime_warning(cfg.warning_after)
    for step, (x, y) in enumerate(utterances(cfg, rank), 1):
        loss = (model(x) - y).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        stop = leaving.agreed()
        if rank == 0 and step % cfg.log_freq == 0:
            print(f"step {step} loss {loss.item():.4f}", flush=True)
        if stop or step % cfg.ckpt_freq == 0 or step == cfg.max_steps:
            save_checkpoint(model, step, rank)
        if stop:
            print(f"rank {rank}: interrupted at step {step}, resume from here", file=sys.stderr)
            break
        if step == cfg.max_steps:
            break
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
