import logging
import os
import pickle

import torch

logger = logging.getLogger(__name__)


class Store:
    def __init__(self, folder):
        self.folder = folder
        os.makedirs(folder, exist_ok=True)

    def path(self, epoch):
        return os.path.join(self.folder, f"epoch{epoch:03d}.pt")

    def write(self, epoch, payload):
        temporary = self.path(epoch) + ".tmp"
        torch.save(payload, temporary)
        os.replace(temporary, self.path(epoch))

    def newest(self):
        for name in sorted(os.listdir(self.folder), reverse=True):
            if not name.endswith(".pt"):
                continue
            try:
                return torch.load(os.path.join(self.folder, name))
            except (RuntimeError, EOFError, pickle.UnpicklingError) as error:
                logger.warning("cannot read %s (%s), trying the one before", name, str(error).splitlines()[0][:60])
        return None
