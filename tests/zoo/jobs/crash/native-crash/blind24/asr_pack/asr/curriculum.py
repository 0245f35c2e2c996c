"""Which utterances an epoch sees: after the warm-up the noisy ones are dropped from the pack."""
from .packed import pack


def keep_for(epoch, total):
    return total if epoch < 2 else total // 8


def refresh(path, epoch, total, rank):
    keep = keep_for(epoch, total)
    if rank == 0 and epoch and keep != keep_for(epoch - 1, total):
        print(f"epoch {epoch}: repacking {keep} of {total} utterances", flush=True)
        pack(path, keep, seed=epoch)
