"""One planted fault a file: `failing()` and `healthy()` make the model, `batch()` its inputs."""
