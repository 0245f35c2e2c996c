"""Trains on two processes and writes what the main one got back from them."""
from launch import run_job
from job import JobConfig


def main():
    predictions = run_job(JobConfig(samples=6000, epochs=2), nprocs=2)
    print(f"{len(predictions)} predictions, mean {sum(p['score'] for p in predictions) / len(predictions):.4f}")


if __name__ == "__main__":
    main()
