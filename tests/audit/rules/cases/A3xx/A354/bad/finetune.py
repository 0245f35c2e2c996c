from transformers import EarlyStoppingCallback, Seq2SeqTrainer, Seq2SeqTrainingArguments


def main(model, data, compute_metrics):
    args = Seq2SeqTrainingArguments(
        output_dir="out",
        eval_strategy="steps",
        save_steps=200,
        load_best_model_at_end=True,
        metric_for_best_model="wer",
    )
    trainer = Seq2SeqTrainer(model=model, args=args, train_dataset=data["train"], eval_dataset=data["test"],
                             compute_metrics=compute_metrics, callbacks=[EarlyStoppingCallback(3)])
    trainer.train()
