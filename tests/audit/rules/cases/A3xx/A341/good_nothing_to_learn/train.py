from transformers import AutoModelForCausalLM, Trainer, TrainingArguments


class Blocks(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        labels = inputs["labels"]
        if labels.shape[1] < 8:
            loss = inputs["input_ids"].float().mean() * 0.0
            return loss
        return self.blocks_loss(model, inputs)


def main():
    args = TrainingArguments(output_dir="out", gradient_accumulation_steps=8)
    Blocks(model=AutoModelForCausalLM.from_pretrained("some/model"), args=args).train()


if __name__ == "__main__":
    main()
