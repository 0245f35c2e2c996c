from torch.nn.parallel import DistributedDataParallel


class Trainer:
    def __init__(self, net, optimizer):
        self.model = DistributedDataParallel(net, gradient_as_bucket_view=True)
        self.optimizer = optimizer

    def clear(self):
        self.optimizer.zero_grad(set_to_none=True)
