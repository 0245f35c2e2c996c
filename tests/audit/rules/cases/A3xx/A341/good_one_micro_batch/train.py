from torch.nn import functional
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments


class Plain(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        labels = inputs.pop("labels")
        loss = functional.cross_entropy(model(**inputs).logits.flatten(0, 1), labels.flatten())
        return loss


def main():
    args = TrainingArguments(output_dir="out", gradient_accumulation_steps=1)
    model = AutoModelForCausalLM.from_pretrained("some/model")
    Plain(model=model, args=args).train()


if __name__ == "__main__":
    main()
