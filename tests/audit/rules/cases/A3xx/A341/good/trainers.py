from torch.nn import functional
from transformers import Trainer


class Divided(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        labels = inputs.pop("labels")
        outputs = model(**inputs)
        losses = functional.cross_entropy(outputs.logits.flatten(0, 1), labels.flatten(), reduction="none")
        count = (labels != -100).sum() if num_items_in_batch is None else num_items_in_batch
        loss = losses.sum() / count
        return (loss, outputs) if return_outputs else loss


class HandedOn(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, **kwargs):
        print(inputs["labels"].float().mean())
        loss = super().compute_loss(model, inputs, return_outputs=return_outputs, **kwargs)
        return loss


class Told(Trainer):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.model_accepts_loss_kwargs = False

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        labels = inputs.pop("labels")
        loss = functional.cross_entropy(model(**inputs).logits.flatten(0, 1), labels.flatten())
        return loss


class ByHand(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        labels = inputs.pop("labels")
        loss = functional.cross_entropy(model(**inputs).logits.flatten(0, 1), labels.flatten())
        return loss / self.args.gradient_accumulation_steps


class NoLabels(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        chosen, rejected = model(**inputs["chosen"]).logits, model(**inputs["rejected"]).logits
        loss = -functional.logsigmoid(chosen - rejected).mean()
        return loss


class Old(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False):
        labels = inputs.pop("labels")
        loss = functional.cross_entropy(model(**inputs).logits.flatten(0, 1), labels.flatten())
        return loss


class Summed(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        labels = inputs.pop("labels")
        logits = model(**inputs).logits.flatten(0, 1)
        loss = functional.cross_entropy(logits, labels.flatten(), reduction="sum") / 1000
        print(logits.mean())
        return loss
