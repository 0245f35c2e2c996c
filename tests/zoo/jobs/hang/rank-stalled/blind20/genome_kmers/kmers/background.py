import torch
import torch.distributed as dist

from kmers.counting import KmerCounter


def background_model(contigs, cfg):
    """Log frequencies of k-mers, counted on rank 0 and sent to the others."""
    size = 4 ** cfg["k"]
    logs = torch.zeros(len(contigs), size)
    if dist.get_rank() == 0:
        counts = KmerCounter(cfg["k"], cfg["seed"]).run(contigs)
        frequencies = torch.from_numpy(counts).float() + 1.0
        logs = (frequencies / frequencies.sum(1, keepdim=True)).log()
        print(f"counted {int(counts.sum())} {cfg['k']}-mers in {len(contigs)} contigs", flush=True)
    dist.broadcast(logs, src=0)
    return logs
