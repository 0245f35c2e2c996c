DEFAULTS = {
    "volume": "volume.h5",
    "traces": 640,
    "samples": 96,
    "batch": 16,
    "epochs": 3,
    "train_workers": 0,
    "valid_workers": 1,
    "start_method": "forkserver",
}
