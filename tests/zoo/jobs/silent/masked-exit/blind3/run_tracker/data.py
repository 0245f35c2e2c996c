import torch


class Blobs:
    def __init__(self, model_cfg, loop_cfg, rank):
        self.model_cfg, self.loop_cfg = model_cfg, loop_cfg
        self.generator = torch.Generator().manual_seed(loop_cfg["seed"] + rank)
        shared = torch.Generator().manual_seed(loop_cfg["seed"])
        self.centers = torch.randn(model_cfg["classes"], model_cfg["inputs"], generator=shared)

    def epoch(self):
        size = self.loop_cfg["batch_size"]
        for _ in range(self.loop_cfg["batches"]):
            labels = torch.randint(len(self.centers), (size,), generator=self.generator)
            noise = torch.randn(size, self.model_cfg["inputs"], generator=self.generator)
            yield self.centers[labels] + 0.7 * noise, labels
