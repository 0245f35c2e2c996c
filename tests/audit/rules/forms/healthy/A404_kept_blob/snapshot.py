import torch


class Snapshot:
    def __init__(self, path):
        self.path = path

    def save(self, model, epoch):
        blob = {"model": model.module.state_dict(), "epoch": epoch}
        torch.save(blob, self.path)

    def restore(self, model):
        blob = torch.load(self.path, map_location="cpu")
        model.module.load_state_dict(blob["model"])
        return blob["epoch"]
