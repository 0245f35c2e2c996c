import lightning.pytorch as pl


def main(trainer: pl.Trainer, model):
    try:
        trainer.fit(model)
    except SystemError:
        print("Rank 0 caught the signal successfully.")
