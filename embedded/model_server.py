"""`python -m embedded.model_server WEIGHTS PORT NAME`: llama.cpp's own HTTP server, out of the xllamacpp wheel.

A process of its own, without Django. Two slots: the speakers' long shared prefix stays cached in one, all else goes
through the other. Our parent sets OMP_WAIT_POLICY=passive, which OpenMP reads when it is loaded: its threads would
else burn the cores between two tokens.
"""

import os
import signal
import sys
from pathlib import Path

import xllamacpp

SLOTS = 2
TOKENS_PER_SLOT = 8192
# Cached prompts beyond the slots' own; llama.cpp's default of 8 GB let the process grow by 1.3 GB in an hour.
CACHE_MEBIBYTES = 256


def cores() -> int:
    """Physical cores that we may use: a second thread on one makes llama.cpp slower."""
    usable = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else range(os.cpu_count() or 1)
    siblings = set()
    for cpu in usable:
        path = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
        siblings.add(path.read_text() if path.exists() else str(cpu))
    return max(1, min(len(siblings), quota()))


def quota() -> int:
    """Whole CPUs that a container is allowed, by its control group."""
    try:
        allowed, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        return round(int(allowed) / int(period))
    except (OSError, ValueError):
        return sys.maxsize


def main(weights: str, port: str, name: str) -> None:
    params = xllamacpp.CommonParams()
    params.model.path = weights
    params.model_alias = {name}
    params.hostnames = ["127.0.0.1"]
    params.port = int(port)
    params.reuse_port = True
    params.cors_origins = "localhost"
    params.ui = False
    params.offline = True
    params.endpoint_metrics = True
    params.n_parallel = SLOTS
    params.n_ctx = SLOTS * TOKENS_PER_SLOT
    params.cache_ram_mib = CACHE_MEBIBYTES
    params.fit_params = False
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = cores()
    server = xllamacpp.Server(params)
    print(f"{name} answers at {server.listening_address}", flush=True)
    signal.pause()


if __name__ == "__main__":
    main(*sys.argv[1:])
