import torch
import torch.distributed as dist
from torch.utils.data import Dataset
from transformers import Trainer, TrainingArguments, get_cosine_schedule_with_warmup

from lora import TinyCausalLM, get_peft_model


class CopyTask(Dataset):
    """Each sequence repeats a short pattern."""

    def __init__(self, size, seed):
        g = torch.Generator().manual_seed(seed)
        pattern = torch.randint(0, 32, (size, 3), generator=g)
        self.ids = pattern.repeat(1, 5)

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, i):
        return {"input_ids": self.ids[i], "labels": self.ids[i]}


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = get_peft_model(TinyCausalLM(), target_modules=("q_proj", "v_proj", "o_proj", "lm_head"))
    trainable = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(trainable, lr=2e-2)
    scheduler = get_cosine_schedule_with_warmup(optimizer, num_warmup_steps=6, num_training_steps=40)
    args = TrainingArguments(
        output_dir="out", use_cpu=True, ddp_backend="gloo", max_steps=40, per_device_train_batch_size=8,
        gradient_accumulation_steps=2, ddp_find_unused_parameters=False, logging_steps=10, save_strategy="no",
        report_to=[], disable_tqdm=True, seed=7, bf16=True,
    )
    trainer = Trainer(model=model, args=args, train_dataset=CopyTask(1600, 1), eval_dataset=CopyTask(64, 2),
                      optimizers=(optimizer, scheduler))
    trainer.train()
    metrics = trainer.evaluate()
    if trainer.is_world_process_zero():
        count = sum(p.numel() for p in trainable)
        print(f"trainable {count} of {sum(p.numel() for p in model.parameters())}, eval_loss {metrics['eval_loss']:.4f}",
              flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
