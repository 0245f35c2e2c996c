import torch

from lightning_modules.general_module import GeneralModule
from models.features import featurize


class FlowModule(GeneralModule):

    def general_step(self, batch):
        features = featurize(batch["element"], batch["charge"], batch["aromatic"])
        x1 = batch["positions"]
        x0 = torch.randn_like(x1)
        t = torch.rand(len(x1), 1)
        xt = (1 - t[..., None]) * x0 + t[..., None] * x1
        return (self.model(features, xt, t) - (x1 - x0)).pow(2).mean()
