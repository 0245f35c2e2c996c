import argparse
import math
import shutil
from pathlib import Path

import torch
import torch.nn.functional as F
from accelerate import Accelerator, DeepSpeedPlugin
from accelerate.logging import get_logger
from accelerate.utils import set_seed
from diffusers import DDPMScheduler, UNet2DConditionModel
from diffusers.optimization import get_scheduler
from peft import LoraConfig, get_peft_model
from torch.utils.data import DataLoader, Dataset

logger = get_logger(__name__)


class Latents(Dataset):
    def __init__(self, root):
        self.files = sorted(Path(root).glob("*.pt"))

    def __len__(self):
        return len(self.files)

    def __getitem__(self, i):
        item = torch.load(self.files[i], map_location="cpu")
        return item["latent"], item["text"]


def prune(folder, keep):
    old = sorted(folder.glob("checkpoint-*"), key=lambda p: int(p.name.split("-")[1]))
    for path in old[:max(0, len(old) - keep + 1)]:
        shutil.rmtree(path)


def checkpoint(accelerator, args, step):
    folder = Path(args.output_dir)
    if accelerator.is_main_process:
        folder.mkdir(parents=True, exist_ok=True)
        prune(folder, args.keep)
    accelerator.wait_for_everyone()
    accelerator.save_state(str(folder / f"checkpoint-{step}"))
    logger.info("saved step %d", step)


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--unet", default="stabilityai/stable-diffusion-2-1")
    p.add_argument("--latents", default="cache/portraits")
    p.add_argument("--output_dir", default="out/lora")
    p.add_argument("--max_steps", type=int, default=4000)
    p.add_argument("--save_every", type=int, default=500)
    p.add_argument("--accum", type=int, default=4)
    p.add_argument("--keep", type=int, default=3)
    return p.parse_args()


def main():
    args = parse()
    plugin = DeepSpeedPlugin(zero_stage=2, gradient_accumulation_steps=args.accum)
    accelerator = Accelerator(mixed_precision="bf16", gradient_accumulation_steps=args.accum, deepspeed_plugin=plugin)
    set_seed(11)
    noise = DDPMScheduler(num_train_timesteps=1000)
    unet = UNet2DConditionModel.from_pretrained(args.unet, subfolder="unet")
    unet = get_peft_model(unet, LoraConfig(r=16, target_modules=["to_q", "to_k", "to_v"]))
    optimizer = torch.optim.AdamW([p for p in unet.parameters() if p.requires_grad], lr=1e-4)
    loader = DataLoader(Latents(args.latents), batch_size=4, shuffle=True, num_workers=4, drop_last=True)
    schedule = get_scheduler("cosine", optimizer, num_warmup_steps=100, num_training_steps=args.max_steps)
    unet, optimizer, loader, schedule = accelerator.prepare(unet, optimizer, loader, schedule)

    step = 0
    for _ in range(math.ceil(args.max_steps * args.accum / len(loader))):
        for latent, text in loader:
            with accelerator.accumulate(unet):
                eps = torch.randn_like(latent)
                t = torch.randint(0, 1000, (len(latent),), device=latent.device)
                pred = unet(noise.add_noise(latent, eps, t), t, text).sample
                accelerator.backward(F.mse_loss(pred.float(), eps.float()))
                optimizer.step()
                schedule.step()
                optimizer.zero_grad()
            if accelerator.sync_gradients:
                step += 1
                if step % args.save_every == 0:
                    checkpoint(accelerator, args, step)
                if step >= args.max_steps:
                    break
        if step >= args.max_steps:
            break
    accelerator.end_training()


if __name__ == "__main__":
    main()
