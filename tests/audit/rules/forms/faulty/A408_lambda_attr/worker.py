import torch.multiprocessing as mp


class Launcher:
    def __init__(self, function, world):
        self.function = function
        self.world = world

    def run(self, *args):
        mp.spawn(self.function, args=args, nprocs=self.world)  # cause
