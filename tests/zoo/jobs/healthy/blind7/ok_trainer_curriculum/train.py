import torch
from transformers import Trainer, TrainerCallback, TrainingArguments, set_seed

from addition import Sorting
from model import Pointer


class Curriculum(TrainerCallback):
    def __init__(self, dataset):
        self.dataset = dataset

    def on_epoch_begin(self, args, state, control, **kwargs):
        self.dataset.set_stage(3 + 2 * int(state.epoch or 0))


def accuracy(prediction):
    return {"accuracy": float((prediction.predictions.argmax(-1) == prediction.label_ids).mean())}


def main():
    torch.set_num_threads(1)
    set_seed(0)
    train_set, val_set = Sorting(), Sorting(size=128, seed=1)
    val_set.set_stage(10)
    args = TrainingArguments(
        output_dir="out",
        use_cpu=True,
        ddp_backend="gloo",
        num_train_epochs=5,
        per_device_train_batch_size=8,
        gradient_accumulation_steps=2,
        per_device_eval_batch_size=64,
        learning_rate=4e-3,
        warmup_steps=10,
        lr_scheduler_type="linear",
        eval_strategy="epoch",
        save_strategy="epoch",
        save_total_limit=1,
        load_best_model_at_end=True,
        metric_for_best_model="accuracy",
        logging_steps=20,
        report_to=[],
        disable_tqdm=True,
        ddp_find_unused_parameters=False,
    )
    trainer = Trainer(
        model=Pointer(),
        args=args,
        train_dataset=train_set,
        eval_dataset=val_set,
        compute_metrics=accuracy,
        callbacks=[Curriculum(train_set)],
    )
    trainer.train()
    if trainer.is_world_process_zero():
        print("best accuracy", trainer.state.best_metric, flush=True)


if __name__ == "__main__":
    main()
