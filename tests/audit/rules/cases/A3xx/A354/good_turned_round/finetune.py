from transformers import Trainer, TrainingArguments


def metrics(prediction):
    wer = prediction.mean()
    return {"wer": -wer}


def main(model, data):
    args = TrainingArguments("out", load_best_model_at_end=True, metric_for_best_model="wer")
    Trainer(model=model, args=args, train_dataset=data, eval_dataset=data, compute_metrics=metrics).train()
