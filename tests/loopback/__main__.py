"""python -m tests.loopback --port 0 --script FILE.json|builtin"""

import argparse
import json
import signal
import threading
from pathlib import Path

from .server import LoopbackModel


def main() -> None:
    parser = argparse.ArgumentParser(prog="tests.loopback", description="A scripted model server for tests.")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--script", default="builtin", help="a JSON file, or builtin")
    asked = parser.parse_args()
    script = None if asked.script == "builtin" else json.loads(Path(asked.script).read_text())
    over = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: over.set())
    with LoopbackModel(script, asked.port) as server:
        print(server.url, flush=True)
        over.wait()


if __name__ == "__main__":
    main()
