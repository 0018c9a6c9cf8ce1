"""Reads ring files as docs/wire.md describes them; written from that document alone, to test it."""

import glob
import os
import struct

_SLOT = 128


def read_directory(directory):
    """All records of all rings in a directory, in order of time: (kind, dict)."""
    records = []
    for path in glob.glob(os.path.join(directory, "*.ring")):
        records += read_ring(path)
    return [record for _, record in sorted(records, key=lambda item: item[0])]


def read_ring(path):
    with open(path, "rb") as file:
        data = file.read()
    assert data[:8] == b"WSRING1\n", path
    (slots,) = struct.unpack_from("<I", data, 12)
    found = []
    for index in range(slots):
        slot = data[4096 + _SLOT * index : 4096 + _SLOT * (index + 1)]
        sequence, _, kind, _, part, parts, time_ns = struct.unpack_from("<QIBBBBQ", slot)
        if sequence:
            found.append((sequence, kind, part, parts, time_ns, slot[24:]))
    found.sort()
    names, records = {}, []
    (pid,) = struct.unpack_from("<q", data, 16)
    index = 0
    while index < len(found):
        first, kind, part, parts, time_ns, _ = found[index]
        pieces = found[index : index + parts]
        whole = [(item[0], item[2]) for item in pieces] == [(first + n, n) for n in range(parts)]
        index += parts if whole else 1
        record = _decode(kind, b"".join(item[5] for item in pieces), names) if whole else None
        if record is not None:
            record["pid"] = pid
            records.append((time_ns, record))
    return records


def _decode(kind, body, names):
    if kind == 1:
        identity, length = struct.unpack_from("<QH", body)
        names[identity] = body[10 : 10 + length].decode()
        return None
    if kind == 2:
        step, loss, rate, wait, duration, flags, present = struct.unpack_from("<qddddII", body)
        values = [value if present & bit else None for value, bit in ((loss, 1), (rate, 2), (wait, 4), (duration, 8))]
        return dict(record="step", step=step, loss=values[0], lr=values[1], wait=values[2], duration=values[3], flags=flags)
    if kind == 3:
        name, step, value, role, present = struct.unpack_from("<QqdBB", body)
        return dict(record="scalar", name=names.get(name), step=step if present & 1 else None, value=value, role=role)
    if kind == 4:
        name, step, what = struct.unpack_from("<QqB", body)
        numbers = struct.unpack_from("<QQQQdddddQQQQQQ", body, 24)
        return dict(record="stats", name=names.get(name), step=step, what=what, stats=numbers)
    if kind == 5:
        return _observation(body)
    if kind == 6:
        return dict(record="phase", phase=body[1 : 1 + body[0]].decode())
    if kind == 7:
        epoch, epochs, step, steps, present = struct.unpack_from("<ddqqI", body)
        values = [value if present & bit else None for value, bit in ((epoch, 1), (epochs, 2), (step, 4), (steps, 8))]
        return dict(record="progress", epoch=values[0], epochs=values[1], step=values[2], steps=values[3])
    return None


def _observation(body):
    step, present, count = struct.unpack_from("<qBB", body)
    at = 10
    kind, at = _short(body, at)
    attributes = {}
    for _ in range(count):
        key, at = _short(body, at)
        if body[at] == 0:
            (attributes[key],) = struct.unpack_from("<d", body, at + 1)
            at += 9
        else:
            (length,) = struct.unpack_from("<H", body, at + 1)
            attributes[key] = body[at + 3 : at + 3 + length].decode()
            at += 3 + length
    return dict(record="observation", kind=kind, step=step if present & 1 else None, **{"attributes": attributes})


def _short(body, at):
    length = body[at]
    return body[at + 1 : at + 1 + length].decode(), at + 1 + length
