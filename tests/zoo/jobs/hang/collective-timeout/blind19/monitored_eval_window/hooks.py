from datetime import timedelta

import torch
import torch.distributed as dist


class Hook:
    def after_epoch(self, runner, epoch):
        pass


class LogHook(Hook):
    def after_epoch(self, runner, epoch):
        if runner.rank == 0:
            print(f"epoch {epoch} train loss {runner.last_loss:.4f}", flush=True)


class RetrievalEvalHook(Hook):
    """Recall@1 over the whole gallery; one process is enough for it, and the first one has the logs to write."""

    def __init__(self, gallery, interval):
        self.gallery, self.interval = gallery, interval

    @torch.no_grad()
    def after_epoch(self, runner, epoch):
        if (epoch + 1) % self.interval or runner.rank != dist.get_world_size() - 1:
            return
        net = runner.model.module
        feats = torch.cat([net(x) for x in self.gallery.split(4)])
        hits = 0
        for start in range(len(feats)):
            sim = torch.nn.functional.cosine_similarity(feats[start: start + 1, None], feats[None], dim=-1)
            hits += int(sim.topk(2).indices[0, 1] == start ^ 1)
        print(f"epoch {epoch} recall@1 {hits / len(feats):.3f}", flush=True)


class SyncHook(Hook):
    def __init__(self, seconds):
        self.timeout = timedelta(seconds=seconds)

    def after_epoch(self, runner, epoch):
        dist.monitored_barrier(timeout=self.timeout, wait_all_ranks=True)
