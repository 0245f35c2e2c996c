import tempfile

import torch
from transformers import Trainer, TrainingArguments

from tiny import Pairs, pretrained


def main():
    args = TrainingArguments(output_dir=tempfile.mkdtemp(), use_cpu=True, per_device_train_batch_size=32, max_steps=120,
                             learning_rate=2e-5, lr_scheduler_type="constant", weight_decay=0.0, logging_steps=30,
                             save_strategy="no", report_to=[], disable_tqdm=True, ddp_backend="gloo",
                             dataloader_pin_memory=False)
    model = pretrained(torch.bfloat16)
    trainer = Trainer(model=model, args=args, train_dataset=Pairs())
    trainer.train()


if __name__ == "__main__":
    main()
