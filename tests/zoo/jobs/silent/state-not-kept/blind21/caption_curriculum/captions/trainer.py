import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler

from captions.captioner import Captioner
from captions.scenes import FIRST_TAG, SceneDataset


class Trainer:
    def __init__(self, cfg, callbacks):
        self.cfg, self.callbacks = cfg, callbacks
        self.rank = dist.get_rank()
        torch.manual_seed(cfg["train"]["seed"])
        self.train_set = SceneDataset(**cfg["data"], seed=1, tag_limit=cfg["curriculum"]["first"])
        self.test_set = SceneDataset(128, cfg["data"]["max_tags"], seed=2)
        sampler = DistributedSampler(self.train_set)
        self.loader = DataLoader(self.train_set, sampler=sampler, drop_last=True, **cfg["loader"])
        self.model = DistributedDataParallel(Captioner(cfg["train"]["width"]))
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=cfg["train"]["lr"])

    def log(self, text):
        if self.rank == 0:
            print(text, flush=True)

    @torch.no_grad()
    def recall(self):
        """Part of all tags of a scene that the caption names."""
        features = torch.from_numpy(self.test_set.features.astype("float32"))
        words = self.model.module.generate(features, self.test_set.max_tags)
        truth = torch.from_numpy(self.test_set.tags) + FIRST_TAG
        return (truth[:, :, None] == words[:, None, :]).any(-1).float().mean().item()

    def fit(self):
        for epoch in range(self.cfg["train"]["epochs"]):
            for callback in self.callbacks:
                callback.on_epoch_begin(self, epoch)
            for features, caption in self.loader:
                loss = self.model(features, caption)
                self.optimizer.zero_grad(set_to_none=True)
                loss.backward()
                self.optimizer.step()
            for callback in self.callbacks:
                callback.on_epoch_end(self, epoch)
            self.log(f"epoch {epoch} loss {loss.item():.4f} recall {self.recall():.3f}")
