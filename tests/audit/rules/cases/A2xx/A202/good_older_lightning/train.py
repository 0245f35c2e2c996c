import pytorch_lightning as pl

trainer = pl.Trainer(gpus=2, strategy="ddp")
if trainer.global_rank == 0:
    trainer.save_checkpoint("last.ckpt")
