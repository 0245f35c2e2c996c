from transformers import EarlyStoppingCallback, Seq2SeqTrainer, Seq2SeqTrainingArguments


def main(model, data, compute_metrics):
    args = Seq2SeqTrainingArguments(
        output_dir="out",
        load_best_model_at_end=True,
        metric_for_best_model="wer",
        greater_is_better=False,
    )
    Seq2SeqTrainer(model=model, args=args, train_dataset=data["train"], callbacks=[EarlyStoppingCallback(3)]).train()
    other = Seq2SeqTrainingArguments(output_dir="b", load_best_model_at_end=True, metric_for_best_model="eval_loss")
    third = Seq2SeqTrainingArguments(output_dir="c", load_best_model_at_end=True, metric_for_best_model="accuracy")
    return other, third
