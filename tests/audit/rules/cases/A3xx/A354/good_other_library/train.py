from keras.callbacks import EarlyStopping, ModelCheckpoint

callbacks = [ModelCheckpoint("best.keras", monitor="val_acc"), EarlyStopping(monitor="val_acc", patience=3)]
