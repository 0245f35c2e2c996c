import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def run_on_main(func, *args, **kwargs):
    """Logging and bookkeeping are done once per job."""
    if dist.get_rank() == 0:
        func(*args, **kwargs)


class Brain:
    def __init__(self, model, opt_class, hparams):
        self.modules = DDP(model)
        self.optimizer = opt_class(self.modules.parameters())
        self.hparams = hparams

    def fit(self, counter, train_loader, valid_loader):
        for epoch in counter:
            train_loader.sampler.set_epoch(epoch)
            self.modules.train()
            total = 0.0
            for batch in train_loader:
                loss = self.compute_objectives(batch)
                self.optimizer.zero_grad()
                loss.backward()
                torch.nn.utils.clip_grad_norm_(self.modules.parameters(), self.hparams["max_grad_norm"])
                self.optimizer.step()
                total += loss.item()
            valid = self.evaluate(valid_loader)
            run_on_main(self.on_stage_end, counter, epoch, total / len(train_loader), valid)
        self.on_fit_end()

    @torch.no_grad()
    def evaluate(self, loader):
        self.modules.eval()
        losses = [self.compute_objectives(batch).item() for batch in loader]
        return sum(losses) / len(losses)

    def on_fit_end(self):
        dist.barrier()
        run_on_main(print, "training finished")
