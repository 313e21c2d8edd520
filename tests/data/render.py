"""Prints what is in recordings, as tests/src/python.rs does: loaded by CPython itself."""

import base64
import pickle
import re
import sys

STATES = {
    "active_allocated": "Allocated",
    "active_pending_free": "PendingFree",
    "active_awaiting_free": "PendingFree",
    "inactive": "Cached",
}


def load(path):
    with open(path, "rb") as file:
        data = file.read()
    if data.lstrip().startswith(b"<"):
        data = base64.b64decode(re.search(rb'"base64": "([^"]*)"', data).group(1))
    return pickle.loads(data)


def stack(frames):
    def line(frame):
        number = frame.get("line", 0)
        return number if 0 <= number < 2**32 else 0

    return "".join(f"{f['name']}:{f['filename']}:{line(f)}|" for f in frames or [])


def dash(value):
    return "-" if value is None else value


def pool(pair):
    return "-" if pair is None else f"({pair[0]}, {pair[1]})"


def setting(value):
    if isinstance(value, dict):
        return "[" + ",".join(f"{k}:{setting(v)}" for k, v in value.items()) + "]"
    return str(value)


def segment(s):
    kind = "Small" if s["segment_type"] == "small" else "Large"
    yield (
        f"segment {s['device']} {s['address']} {s['total_size']} {s['stream']} {kind}"
        f" {pool(s.get('segment_pool_id'))} {str(s.get('is_expandable', False)).lower()}"
        f" {dash(s.get('allocated_size'))} {dash(s.get('active_size'))} {stack(s.get('frames'))}"
    )
    address = s["address"]
    blocks = []
    for b in s["blocks"]:
        address = b.get("address", address)
        newest = b.get("history", [{}])[0]
        requested = b.get("requested_size", newest.get("real_size"))
        frames = newest.get("frames", b.get("frames"))
        state = STATES[b["state"]]
        text = f"block {address} {b['size']} {dash(requested)} {state} {stack(frames)}"
        blocks.append((address, text))
        address += b["size"]
    yield from (text for _, text in sorted(blocks, key=lambda block: block[0]))


def event(device, e):
    place = e["device_free"] if e["action"] == "oom" else e["addr"]
    context = e.get("compile_context", "")
    return (
        f"event {device} {e['action']} {place} {e['size']} {e['stream']} {dash(e.get('time_us'))}"
        f" {pool(e.get('pool_id'))} [{'' if context == 'N/A' else context}]"
        f" [{e.get('user_metadata', '')}] {stack(e.get('frames'))}"
    )


def render(snapshot):
    if isinstance(snapshot, list):
        snapshot = {"segments": snapshot}
    for name, value in snapshot.get("allocator_settings", {}).items():
        yield f"setting {name}={setting(value)}"
    segments = snapshot.get("segments", [])
    traces = snapshot.get("device_traces", [])
    for device in sorted({s["device"] for s in segments} | set(range(len(traces)))):
        own = [s for s in segments if s["device"] == device]
        for s in sorted(own, key=lambda s: s["address"]):
            yield from segment(s)
        if device < len(traces):
            yield from (event(device, e) for e in traces[device])
    for a in snapshot.get("external_annotations", []):
        stage = a["stage"].capitalize()
        yield f"annotation {a['name']} {stage} {a['device']} {dash(a.get('time_us'))}"


for path in sys.argv[1:]:
    for text in render(load(path)):
        print(text)
    print("=====")
