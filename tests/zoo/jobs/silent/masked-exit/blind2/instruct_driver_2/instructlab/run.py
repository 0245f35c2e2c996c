import os
import tempfile

from instructlab.utils import StreamablePopen, log


def run_training(args):
    """Wrapper around the main training job that calls torchrun."""
    t = args.torchrun
    command = [
        "torchrun",
        "--standalone",
        f"--nnodes={t.nnodes}",
        f"--nproc_per_node={t.nproc_per_node}",
        f"--rdzv_id={t.rdzv_id}",
        os.path.join(os.path.dirname(__file__), "main_ds.py"),
        f"--data_path={args.data_path}",
        f"--batch_size={args.effective_batch_size}",
        f"--num_epochs={args.num_epochs}",
        f"--learning_rate={args.learning_rate}",
        f"--vocab_size={args.vocab_size}",
    ]
    log.info("Running training command as subprocess: %s", " ".join(command))
    process = None
    interrupt = None
    failure = False
    try:
        process = StreamablePopen(os.path.join(tempfile.gettempdir(), f"full_logs_{os.getpid()}.log"), command)
        process.listen()
    except KeyboardInterrupt as e:
        log.info("Training subprocess interrupted by user.")
        interrupt = e
    finally:
        if process is not None:
            failure = process.poll() != 0
            if not failure:
                log.info("Operation completed successfully!")
            else:
                log.error("Training subprocess has not exited yet. Sending SIGTERM. Process code: %s", process.poll())
            process.terminate()
            os.remove(process.output_file)
    if interrupt:
        raise interrupt
