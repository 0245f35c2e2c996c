RUN_LOG=${RUN_LOG:-$(mktemp)}
MAX_STEPS=${MAX_STEPS:-40}
NPROC=${NPROC:-2}

banner() {
    echo "=== $* ==="
}
