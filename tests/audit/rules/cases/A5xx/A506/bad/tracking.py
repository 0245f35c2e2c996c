import mlflow


def start():
    mlflow.start_run(run_name="flow")
