import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler

from histo.cache import ArtifactCache
from histo.moments import StainMoments
from histo.slides import Normalizer, PatchDataset


class PatchClassifier(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(3, width, 3, stride=2), nn.ReLU(),
                                      nn.Conv2d(width, width, 3, stride=2), nn.ReLU())
        self.classifier = nn.Linear(width, 2)

    def forward(self, x):
        return self.classifier(self.features(x).mean((2, 3)))


class Engine:
    def __init__(self, cfg, rank, world):
        self.cfg, self.rank, self.world = cfg, rank, world
        self.dataset = PatchDataset(cfg.slides, cfg.patches, cfg.size, cfg.seed)
        self.cache = ArtifactCache(cfg.cache_dir)

    def stain_stats(self):
        moments = StainMoments(channels=3)
        mine = range(self.rank, len(self.dataset), self.world)
        for index in mine:
            moments.update(self.dataset.raw(index)[0][None])
        return moments.finalize()

    def setup(self):
        stats = self.cache.get("stain", vars(self.cfg), self.stain_stats)
        self.dataset.normalizer = Normalizer(stats)
        self.sampler = DistributedSampler(self.dataset, self.world, self.rank, seed=self.cfg.seed)
        self.loader = DataLoader(self.dataset, self.cfg.batch_size, sampler=self.sampler, drop_last=True)
        torch.manual_seed(self.cfg.seed)
        self.model = DDP(PatchClassifier(self.cfg.width))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=self.cfg.lr, momentum=0.9)

    def fit(self):
        for epoch in range(self.cfg.epochs):
            self.sampler.set_epoch(epoch)
            for patches, labels in self.loader:
                loss = nn.functional.cross_entropy(self.model(patches), labels)
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
            if self.rank == 0:
                print(f"epoch {epoch} loss {loss.item():.4f}", flush=True)
