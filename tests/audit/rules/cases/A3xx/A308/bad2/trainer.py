from torch.nn.parallel import DistributedDataParallel


class Trainer:
    def __init__(self, net):
        self.net = net
        self.model = DistributedDataParallel(net, gradient_as_bucket_view=True)

    def clear(self):
        for p in self.net.parameters():
            if p.grad is not None:
                p.grad.detach_()
                p.grad.zero_()
