#!/usr/bin/env python3
"""Runs each playground script under real PyTorch on a GPU and keeps what happened.

    python3 tests/scripts/record_playground.py OUT.json [SCRIPT.py ...]

Each script runs unchanged in a process of its own, with memory history on from its
`import torch`. The result holds, by script: what it printed, the allocator's events
(action, address, size, stream; streams by order of appearance, 0 is the default one),
the exception that ended it, and how large the card is.
"""

import builtins
import concurrent.futures
import contextlib
import io
import json
import pathlib
import subprocess
import sys

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "data" / "playground"


def record(path):
    """Runs one script in this process."""
    started = []
    depth = [0]
    original = builtins.__import__

    def importing(name, *rest):
        depth[0] += 1
        try:
            module = original(name, *rest)
        finally:
            depth[0] -= 1
        # PyTorch imports its own parts first: history starts when all of it is there.
        if name.split(".")[0] == "torch" and not started and depth[0] == 0:
            started.append(True)
            import torch

            torch.cuda.memory._record_memory_history(
                enabled="all", context=None, max_entries=1_000_000
            )
        return module

    source = path.read_text()
    printed = io.StringIO()
    names = {"__name__": "__main__", "__builtins__": builtins}
    uncaught = None
    builtins.__import__ = importing
    try:
        with contextlib.redirect_stdout(printed):
            exec(compile(source, str(path), "exec"), names)
    except Exception as error:  # kept: its traceback keeps frames alive, as in the playground
        uncaught = error
    builtins.__import__ = original

    import torch

    snapshot = torch.cuda.memory._snapshot()
    streams = [0]
    events = []
    for entry in snapshot["device_traces"][0]:
        if entry["action"] == "snapshot":
            continue
        if entry["stream"] not in streams:
            streams.append(entry["stream"])
        address = entry.get("addr", entry.get("device_free", 0))
        stream = streams.index(entry["stream"])
        events.append([entry["action"], address, entry["size"], stream])
    return {
        "torch": torch.__version__,
        "python": sys.version.split()[0],
        "total": torch.cuda.get_device_properties(0).total_memory,
        "output": printed.getvalue(),
        "uncaught": uncaught and f"{type(uncaught).__name__}: {uncaught}",
        "events": events,
    }


def main():
    if sys.argv[1] == "--one":
        json.dump(record(pathlib.Path(sys.argv[2])), sys.stdout)
        return
    scripts = [pathlib.Path(name) for name in sys.argv[2:]] or sorted(FOLDER.glob("*.py"))

    def run(script):
        command = [sys.executable, __file__, "--one", str(script)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=200)
        if done.returncode != 0:
            print(script.name, done.stderr[-2000:], file=sys.stderr)
            return script.stem, None
        return script.stem, json.loads(done.stdout)

    # One at a time after the other would load PyTorch again and again; the memory of each is small.
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        results = dict(pool.map(run, scripts))
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(found)}" for name, found in results.items())
    pathlib.Path(sys.argv[1]).write_text("{\n" + lines + "\n}\n")
    print(len(results), "scripts,", sum(len(r["events"]) for r in results.values() if r), "events")


if __name__ == "__main__":
    main()
