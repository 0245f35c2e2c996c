import torch
import torch.distributed as dist
from torch.nn.functional import cross_entropy
from torch.nn.parallel import DistributedDataParallel as DDP

from corpus import documents
from limits import cap_memory
from modeling import DocumentModel


class Finetuner:
    def __init__(self):
        self.rank = dist.get_rank()
        torch.manual_seed(0)
        self.model = DDP(DocumentModel())
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-3)

    def step(self, ids):
        logits = self.model(ids[:-1])
        loss = cross_entropy(logits, ids[1:])
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad()
        return loss.item()

    def run(self):
        for number, ids in enumerate(documents(self.rank)):
            loss = self.step(ids)
            if self.rank == 0 and number % 5 == 0:
                print(f"document {number}: {loss:.3f}", flush=True)


if __name__ == "__main__":
    dist.init_process_group("gloo")
    tuner = Finetuner()
    cap_memory(600)
    tuner.run()
    dist.destroy_process_group()
