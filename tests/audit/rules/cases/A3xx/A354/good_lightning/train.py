from lightning.pytorch.callbacks import EarlyStopping, ModelCheckpoint

callbacks = [
    ModelCheckpoint(monitor="val_acc", mode="max"),
    ModelCheckpoint(monitor="val_loss"),
    ModelCheckpoint(monitor="acc", save_top_k=-1),
    EarlyStopping("val_loss", patience=5),
    EarlyStopping("val_accuracy_loss"),
    ModelCheckpoint(monitor="step", mode="max"),
]
