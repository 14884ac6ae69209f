"""What the supervisor says, on standard error: lines, and a progress bar that lines don't tear."""

import sys
import threading

WIDTH = 30
CLEAR = "\r\033[K"
turn = threading.Lock()
bar = ""


def say(line: str) -> None:
    with turn:
        print(f"{CLEAR if bar else ''}{line}", file=sys.stderr)
        sys.stderr.write(bar)
        sys.stderr.flush()


def progress(what: str, before: float, now: float) -> None:
    """Draws a share between 0 and 1; where no terminal reads, a line each tenth. At 1 the bar ends."""
    global bar
    if not sys.stderr.isatty():
        if int(now * 10) > int(before * 10):
            say(f"{what}: {now:.0%}")
        return
    with turn:
        filled = round(now * WIDTH)
        bar = f"{CLEAR}{what} [{'#' * filled}{'.' * (WIDTH - filled)}] {now:4.0%}"
        sys.stderr.write(f"{bar}\n" if now >= 1 else bar)
        sys.stderr.flush()
        bar = "" if now >= 1 else bar
