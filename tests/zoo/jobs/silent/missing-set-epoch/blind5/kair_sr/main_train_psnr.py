import math

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

from data.dataset_sr import DatasetSR
from models.model_plain import ModelPlain


def get_options():
    return {
        "dist": True, "seed": 51,
        "train": {"n_images": 128, "phase_seed": 1, "dataloader_shuffle": True, "dataloader_batch_size": 16},
        "G_optimizer_lr": 2e-3, "milestones": [24, 36],
        "max_steps": 48, "checkpoint_print": 8,
    }


def main():
    torch.set_num_threads(1)
    opt = get_options()
    if opt["dist"]:
        dist.init_process_group("gloo")
    opt["rank"], opt["num_gpu"] = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(opt["seed"])

    dataset_opt = opt["train"]
    train_set = DatasetSR(dataset_opt)
    train_size = int(math.ceil(len(train_set) / dataset_opt["dataloader_batch_size"]))
    if opt["rank"] == 0:
        print(f"Number of train images: {len(train_set)}, iters: {train_size}", flush=True)
    if opt["dist"]:
        train_sampler = DistributedSampler(train_set, shuffle=dataset_opt["dataloader_shuffle"], drop_last=True, seed=opt["seed"])
        train_loader = DataLoader(train_set, batch_size=dataset_opt["dataloader_batch_size"] // opt["num_gpu"],
                                  shuffle=False, drop_last=True, sampler=train_sampler)
    else:
        train_loader = DataLoader(train_set, batch_size=dataset_opt["dataloader_batch_size"],
                                  shuffle=dataset_opt["dataloader_shuffle"], drop_last=True)

    model = ModelPlain(opt)
    current_step = 0
    for epoch in range(1000000):
        for i, train_data in enumerate(train_loader):
            current_step += 1
            model.feed_data(train_data)
            model.optimize_parameters(current_step)
            model.update_learning_rate(current_step)
            if current_step % opt["checkpoint_print"] == 0 and opt["rank"] == 0:
                print(f"<epoch:{epoch:3d}, iter:{current_step:5d}> G_loss: {model.log_dict['G_loss']:.3e}", flush=True)
        if current_step >= opt["max_steps"]:
            break
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
