import torch.distributed as dist

from .log_buffer import LogBuffer


class EpochBasedRunner:

    def __init__(self, model, optimizer, batch_processor, max_epochs):
        self.model, self.optimizer = model, optimizer
        self.batch_processor = batch_processor
        self.max_epochs = max_epochs
        self.rank, self.world_size = dist.get_rank(), dist.get_world_size()
        self.log_buffer = LogBuffer()
        self.hooks = []
        self.epoch = self.inner_iter = 0

    def register_hook(self, *hooks):
        self.hooks.extend(hooks)

    def call_hook(self, name):
        for hook in self.hooks:
            getattr(hook, name)(self)

    def train(self, data_loader):
        self.model.train()
        self.data_loader = data_loader
        data_loader.sampler.set_epoch(self.epoch)
        self.call_hook("before_epoch")
        for i, batch in enumerate(data_loader):
            self.inner_iter = i
            self.outputs = self.batch_processor(self.model, batch)
            self.log_buffer.update(self.outputs["log_vars"], self.outputs["num_samples"])
            self.call_hook("after_train_iter")
        self.call_hook("after_train_epoch")
        self.epoch += 1

    def run(self, data_loader):
        self.call_hook("before_run")
        while self.epoch < self.max_epochs:
            self.train(data_loader)
        self.call_hook("after_run")
