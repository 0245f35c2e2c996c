"""A tiny BERT from random weights under the Transformers Trainer; rank 0 prints the loss."""

import tempfile

import torch
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments, set_seed


class Sentences(torch.utils.data.Dataset):
    def __len__(self) -> int:
        return 64

    def __getitem__(self, index: int) -> dict[str, torch.Tensor]:
        generator = torch.Generator().manual_seed(index)
        tokens = torch.randint(0, 100, (12,), generator=generator)
        return {"input_ids": tokens, "attention_mask": torch.ones(12, dtype=torch.long), "labels": tokens[0] % 2}


def main() -> None:
    set_seed(0)
    shape = BertConfig(
        vocab_size=100, hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64, num_labels=2
    )
    with tempfile.TemporaryDirectory() as folder:
        arguments = TrainingArguments(
            output_dir=folder, max_steps=6, per_device_train_batch_size=4, use_cpu=True, report_to=[],
            save_strategy="no", logging_steps=2, ddp_backend="gloo", dataloader_num_workers=1, disable_tqdm=True,
        )  # fmt: skip
        trainer = Trainer(model=BertForSequenceClassification(shape), args=arguments, train_dataset=Sentences())
        result = trainer.train()
    if trainer.is_world_process_zero():
        print(f"loss {result.training_loss:.9f}")


if __name__ == "__main__":
    main()
