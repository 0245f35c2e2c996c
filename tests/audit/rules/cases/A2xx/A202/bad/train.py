import torch
import torch.distributed as dist
import torchmetrics
from accelerate import Accelerator
from accelerate.utils import ProjectConfiguration
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP

from saving import Saver, save_all

accelerator = Accelerator(project_config=ProjectConfiguration("out", automatic_checkpoint_naming=True))
accuracy = torchmetrics.Accuracy(task="multiclass", num_classes=10)


def train(net, loader):
    model = FSDP(net)
    rank = dist.get_rank()
    for step, batch in enumerate(loader):
        model(batch).mean().backward()
        if rank == 0:
            save_all(model, step)
    if rank == 0:
        torch.save(model.state_dict(), "model.pt")
    if accelerator.is_main_process:
        accelerator.save_state("checkpoints")
    if rank == 0:
        print(f"accuracy {accuracy.compute():.3f}")
    saver = Saver()
    if not rank:
        saver.finish()
