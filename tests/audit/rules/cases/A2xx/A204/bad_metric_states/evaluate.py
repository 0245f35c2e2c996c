import torch.distributed as dist
from torchmetrics.classification import BinaryPrecision
from torchmetrics.detection import MeanAveragePrecision

dist.init_process_group("nccl")


class Metrics:
    def __init__(self, device):
        self.map = MeanAveragePrecision().to(device)
        self.precision = BinaryPrecision()

    def compute(self):
        out = {}
        if len(self.map.groundtruth_labels) > 0:
            out["map"] = self.map.compute()
        return out

    def of_precision(self):
        if not self.precision.update_called:
            return None
        return self.precision.compute()
