"""The ring writer without the extension: mmap, struct and zlib's CRC-32. docs/wire.md has the layout."""

import _thread
import mmap
import os
import struct
import sys
import time
import zlib

HEADER_BYTES = 4096
SLOT_BYTES = 128
BODY_BYTES = 104
PARTS_MAX = 160
ATTRIBUTES_MAX = 64
NAME_BYTES_MAX = 256
PHASE_BYTES_MAX = 64
NAMES_MAX = 16384
RANK_AT, FLAGS_AT, HEAD_AT, DROPPED_AT, LAST_STEP_AT = 40, 56, 128, 136, 256
SLOT_ZLIB_CRC, SLOT_LAST_ONLY = 1, 2
RING_CLOSED = 1
WRITER_PURE_PYTHON = 3
KIND_NAME, KIND_STEP, KIND_SCALAR, KIND_STATS = 1, 2, 3, 4
KIND_OBSERVATION, KIND_PHASE, KIND_PROGRESS = 5, 6, 7
RINGS_PER_PROCESS_MAX = 8

_header = struct.Struct("<8sIIqQQiiiIII64s")
_word = struct.Struct("<Q")
_flags = struct.Struct("<I")
_slot = struct.Struct("<QIBBBBQ104s")
_step = struct.Struct("<qddddII")
_scalar = struct.Struct("<QqdBB6x")
_stats = struct.Struct("<QqB7xQQQQddddd6Q")
_progress = struct.Struct("<ddqqII")
_zero = bytes(8)


def _start_ticks():
    try:
        with open("/proc/self/stat", "rb") as file:
            return int(file.read().rpartition(b")")[2].split()[19])
    except Exception:
        return 0


def _pid_namespace():
    try:
        return os.stat("/proc/self/ns/pid").st_ino & 0xFFFFFFFF
    except OSError:
        return 0


def _number_from_environment(name, default):
    try:
        return int(os.environ[name])
    except (KeyError, ValueError):
        return default


def _cut(text, bytes_max):
    encoded = text.encode("utf-8", "replace")
    if len(encoded) <= bytes_max:
        return encoded
    return encoded[:bytes_max].decode("utf-8", "ignore").encode("utf-8")


def _create_file(directory, pid, start, size):
    for number in range(RINGS_PER_PROCESS_MAX):
        suffix = "-%d" % number if number else ""
        path = os.path.join(directory, "%d-%d%s.ring" % (pid, start, suffix))
        try:
            fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except FileExistsError:
            continue
        try:
            # Reserves the blocks: a disk that fills up later must not raise SIGBUS in the trainee.
            os.posix_fallocate(fd, 0, size)
        except Exception:
            os.close(fd)
            os.unlink(path)
            return None
        return fd
    return None


def open_pure_writer():
    """A PureWriter for this process, or None."""
    directory = os.environ.get("WHYSTOP_RING_DIR")
    if not directory:
        return None
    try:
        slots = min(max(_number_from_environment("WHYSTOP_RING_SLOTS", 16384), 64), 65536)
        pid, start = os.getpid(), _start_ticks()
        fd = _create_file(directory, pid, start, HEADER_BYTES + SLOT_BYTES * slots)
        if fd is None:
            return None
        try:
            memory = mmap.mmap(fd, HEADER_BYTES + SLOT_BYTES * slots)
        finally:
            os.close(fd)
        name = "whystop pure-python %d.%d" % sys.version_info[:2]
        ranks = [_number_from_environment(key, -1) for key in ("RANK", "LOCAL_RANK", "WORLD_SIZE")]
        now = time.monotonic_ns()
        header = _header.pack(b"WSRING1\n", 1, slots, pid, start, now, *ranks, WRITER_PURE_PYTHON, 0, _pid_namespace(), name.encode())
        memory[8 : len(header)] = header[8:]
        memory[0:8] = header[0:8]  # Last: from here on the file is a ring.
        return PureWriter(memory, slots, pid)
    except Exception:
        return None


class PureWriter:
    """Writes records into a mapped ring. Same methods as the extension's writer; none of them raises."""

    def __init__(self, memory, slots, pid):
        self._memory = memory
        self._slots = slots
        self._pid = pid
        self._head = 0
        self._last_steps = 0
        self._dropped = 0
        self._names = {}  # Name: [id, head when it was last written].
        self._lock = _thread.allocate_lock()
        self._scratch = bytearray(SLOT_BYTES)
        self._scratch_sequence = memoryview(self._scratch)[:8]
        self._scratch_rest = memoryview(self._scratch)[8:]

    def alive(self):
        """Open, and in the process that opened it: a forked child must not write into its parent's ring."""
        return self._memory is not None and os.getpid() == self._pid

    def step(self, step, loss, lr, wait_s, duration_s, flags):
        self._write(self._step, step, loss, lr, wait_s, duration_s, flags)

    def scalar(self, name, role, step, value):
        self._write(self._scalar, name, role, step, value)

    def progress(self, epoch, epochs, step, steps):
        self._write(self._progress, epoch, epochs, step, steps)

    def phase(self, name):
        self._write(self._phase, name)

    def stats(self, what, name, step, stats):
        self._write(self._stats, what, name, step, stats)

    def observe(self, kind, step, attributes):
        self._write(self._observe, kind, step, attributes)

    def set_flags(self, bits):
        self._write(self._set_flags, bits)

    def set_rank(self, rank, world_size):
        self._write(self._set_rank, rank, world_size)

    def close(self):
        if self.alive():
            self._write(self._set_flags, RING_CLOSED)
        memory, self._memory = self._memory, None
        if memory is not None:
            memory.close()

    def _write(self, method, *arguments):
        if self._memory is None or os.getpid() != self._pid:
            return
        # Bounded: a signal handler may stand above the very call that holds the lock.
        if not self._lock.acquire(False) and not self._lock.acquire(True, 0.02):
            self._dropped += 1
            return
        try:
            method(*arguments)
            if self._dropped:
                self._memory[DROPPED_AT : DROPPED_AT + 8] = _word.pack(self._dropped)
        except Exception:
            self._dropped += 1
        finally:
            self._lock.release()

    def _fill(self, kind, body, part, parts, flags):
        """Makes the next slot in the scratch bytes, which every slot goes through."""
        scratch = self._scratch
        now = time.monotonic_ns()
        _slot.pack_into(scratch, 0, self._head + 1, 0, kind, flags | SLOT_ZLIB_CRC, part, parts, now, body)
        _flags.pack_into(scratch, 8, zlib.crc32(scratch))

    def _publish(self, place):
        memory = self._memory
        memory[place : place + 8] = _zero
        memory[place + 8 : place + SLOT_BYTES] = self._scratch_rest
        memory[place : place + 8] = self._scratch_sequence

    def _append(self):
        self._publish(HEADER_BYTES + SLOT_BYTES * (self._head % self._slots))
        self._head += 1
        self._memory[HEAD_AT : HEAD_AT + 8] = self._scratch_sequence

    def _put(self, kind, body):
        parts = -(-len(body) // BODY_BYTES) or 1
        if parts > PARTS_MAX or parts > self._slots:
            self._dropped += 1
            return
        for part in range(parts):
            piece = body[part * BODY_BYTES : (part + 1) * BODY_BYTES]
            self._fill(kind, piece, part, parts, 0)
            self._append()

    def _announce(self, name):
        known = self._names.get(name)
        if known is None:
            if len(self._names) >= NAMES_MAX:
                self._names.clear()  # Ids go on from the head, so none is used twice.
            known = self._names[name] = [self._head + 1, None]
        if known[1] is None or self._head - known[1] > self._slots // 4:
            text = _cut(name, NAME_BYTES_MAX)
            self._put(KIND_NAME, struct.pack("<QH", known[0], len(text)) + text)
            known[1] = self._head
        return known[0]

    def _step(self, step, loss, lr, wait_s, duration_s, flags):
        present = (loss is not None) | (lr is not None) << 1 | (wait_s is not None) << 2 | (duration_s is not None) << 3
        body = _step.pack(step, loss or 0.0, lr or 0.0, wait_s or 0.0, duration_s or 0.0, flags & ~2, present)
        last_only = flags & 2
        self._fill(KIND_STEP, body, 0, 1, SLOT_LAST_ONLY if last_only else 0)
        if not last_only:
            self._append()
        self._publish(LAST_STEP_AT + SLOT_BYTES * (self._last_steps & 1))
        self._last_steps += 1

    def _scalar(self, name, role, step, value):
        has_step = step is not None and step >= 0
        body = (step if has_step else 0, value, role, int(has_step))
        self._put(KIND_SCALAR, _scalar.pack(self._announce(name), *body))

    def _stats(self, what, name, step, stats):
        numbers = [float(value) for value in stats[4:9]]  # struct tells an interrupt as a wrong type.
        self._put(KIND_STATS, _stats.pack(self._announce(name), step, what, *stats[:4], *numbers, *stats[9:]))

    def _progress(self, *values):
        present = sum(1 << bit for bit, value in enumerate(values) if value is not None)
        epoch, epochs, step, steps = (0 if value is None else value for value in values)
        self._put(KIND_PROGRESS, _progress.pack(float(epoch), float(epochs), step, steps, present, 0))

    def _phase(self, name):
        text = _cut(name, PHASE_BYTES_MAX)
        self._put(KIND_PHASE, bytes((len(text),)) + text)

    def _observe(self, kind, step, attributes):
        parts, count, cut = [], 0, 0
        kind_text = _cut(kind, 255)
        room = PARTS_MAX * BODY_BYTES - 11 - len(kind_text)
        for key, value in attributes.items():
            is_text = isinstance(value, str)
            if not is_text:
                try:
                    value = float(value)
                except Exception:
                    continue  # Neither text nor number: this attribute is left out, the others are not.
            key_text = _cut(key, 255)
            needed = 2 + len(key_text) + (2 if is_text else 8)
            if count >= ATTRIBUTES_MAX or needed > room:
                cut = 2
                break
            room -= needed
            head = bytes((len(key_text),)) + key_text + bytes((int(is_text),))
            if is_text:
                text = _cut(value, min(65535, room))
                cut |= 2 if len(text) < len(value.encode("utf-8", "replace")) else 0
                room -= len(text)
                parts.append(head + struct.pack("<H", len(text)) + text)
            else:
                parts.append(head + struct.pack("<d", value))
            count += 1
        has_step = step is not None and step >= 0
        start = struct.pack("<qBBB", step if has_step else 0, cut | has_step, count, len(kind_text)) + kind_text
        self._put(KIND_OBSERVATION, start + b"".join(parts))

    def _set_flags(self, bits):
        (flags,) = _flags.unpack_from(self._memory, FLAGS_AT)
        self._memory[FLAGS_AT : FLAGS_AT + 4] = _flags.pack(flags | bits)

    def _set_rank(self, rank, world_size):
        rank, world = struct.pack("<i", rank), struct.pack("<i", world_size)
        self._memory[RANK_AT + 8 : RANK_AT + 12] = world
        self._memory[RANK_AT : RANK_AT + 4] = rank
