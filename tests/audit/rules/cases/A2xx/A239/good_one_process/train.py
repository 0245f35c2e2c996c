import torch
from transformers import EarlyStoppingCallback, Trainer, TrainingArguments


class OwnTrainer(Trainer):
    def __init__(self, *args, **kwargs):
        self.pairs = []
        super().__init__(*args, compute_metrics=self.f1, **kwargs)

    def prediction_step(self, model, inputs, prediction_loss_only, ignore_keys=None):
        with torch.no_grad():
            loss, outputs = self.compute_loss(model, inputs, return_outputs=True)
        self.pairs.extend(zip(outputs["logits"].argmax(-1).tolist(), inputs["labels"].tolist(), strict=True))
        return loss, None, inputs["labels"]

    def f1(self, prediction):
        hits = sum(a == b for a, b in self.pairs)
        return {"f1": hits / max(1, len(self.pairs))}


def main(model, data):
    args = TrainingArguments("out", eval_strategy="epoch", save_strategy="epoch", load_best_model_at_end=True, metric_for_best_model="f1")
    trainer = OwnTrainer(model=model, args=args, train_dataset=data["train"], eval_dataset=data["dev"], callbacks=[EarlyStoppingCallback(3)])
    trainer.train()
