import torch
from transformers import BertConfig, BertForSequenceClassification, TrainingArguments, set_seed

from data import Sentences
from budget import NotingTrainer, StopWhenGood


def model():
    return BertForSequenceClassification(
        BertConfig(
            vocab_size=100, hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64, num_labels=2
        )
    )


def main():
    set_seed(0)
    torch.set_num_threads(1)
    arguments = TrainingArguments(
        output_dir="out", num_train_epochs=2, per_device_train_batch_size=4, learning_rate=3e-3, use_cpu=True,
        ddp_backend="gloo", ddp_timeout=1800, report_to=[], save_strategy="no", logging_steps=4, disable_tqdm=True,
    )
    trainer = NotingTrainer(
        model=model(), args=arguments, train_dataset=Sentences(96), eval_dataset=Sentences(32, first=1000),
    )
    trainer.add_callback(StopWhenGood(trainer, bound=1.2))
    result = trainer.train()
    scores = trainer.evaluate()
    if trainer.is_world_process_zero():
        print(f"loss {result.training_loss:.4f}, eval loss {scores['eval_loss']:.4f}", flush=True)


if __name__ == "__main__":
    main()
