def write_report(history):
    print("training finished", flush=True)
    best = min(history, key=lambda entry: entry["loss"])
    print(f"best epoch {best['epoch']}: loss {best['loss']:.4f} at rate {best['rate']}", flush=True)
