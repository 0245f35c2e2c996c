import torch.distributed as dist


class Runner:
    def __init__(self, model, opt, objective, hooks):
        self.model, self.opt, self.objective, self.hooks = model, opt, objective, hooks
        self.rank, self.iteration, self.loss = dist.get_rank(), 0, None

    def _each(self, name):
        for hook in self.hooks:
            getattr(hook, name)(self)

    def run(self, loader, epochs):
        for epoch in range(epochs):
            loader.sampler.set_epoch(epoch)
            self._each("before_epoch")
            for batch in loader:
                self._each("before_iter")
                self.loss = self.objective(self.model, batch)
                self._each("after_iter")
                self.iteration += 1
