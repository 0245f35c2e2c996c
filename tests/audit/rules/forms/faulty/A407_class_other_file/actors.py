import multiprocessing
import torch


class Actor(multiprocessing.Process):
    def __init__(self, net):
        super().__init__()
        self.net = net

    def run(self):
        x = torch.ones(4, device="cuda")
        print(self.net.cuda()(x))


class Pool:
    def __init__(self, net, count):
        self.actors = [Actor(net) for _ in range(count)]

    def start(self):
        for actor in self.actors:
            actor.start()  # cause
