import itertools
import threading

from torch.utils.data import DataLoader, DistributedSampler

from kws.procs import init_worker


def make_loader(dataset, cfg, rank, world):
    sampler = DistributedSampler(dataset, world, rank, seed=cfg["seed"])
    return DataLoader(dataset, batch_size=cfg["batch_size"], sampler=sampler, num_workers=cfg["workers"],
                      prefetch_factor=2, worker_init_fn=init_worker, drop_last=True)


class EpochFeeder:
    """Hands out one pass after the other; the next one is warmed up while the model is validated."""

    def __init__(self, loader):
        self.loader = loader
        self._warm = None
        self._thread = None

    def warm_up(self, epoch):
        def start():
            self.loader.sampler.set_epoch(epoch)
            batches = iter(self.loader)
            self._warm = itertools.chain([next(batches)], batches)

        self._thread = threading.Thread(target=start, name="warm-up")
        self._thread.start()

    def batches(self, epoch):
        if self._thread is None:
            self.loader.sampler.set_epoch(epoch)
            return iter(self.loader)
        self._thread.join()
        self._thread, warm, self._warm = None, self._warm, None
        return warm
