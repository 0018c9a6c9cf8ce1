"""Forks ring writers and kills each at a random moment. Prints nothing; writes "file completed-step" lines to the report.

Usage: kill_writers.py COUNT REPORT, with WHYSTOP_RING_DIR set. Exit 77: the extension was wanted and is not there.
"""

import glob
import mmap
import os
import random
import signal
import struct
import sys
import time

from whystop_probe.core import ring


def write_for_ever(completed):
    writer = ring.open_writer()
    step = 0
    while True:
        step += 1
        writer.step(step, 1.0 / step, None, None, None, 0)
        completed[0:8] = struct.pack("<q", step)
        writer.scalar("twice", ring.ROLE_OTHER, step, step * 2.0)
        writer.observe("note", step, {"text": "a" * (step % 700) + "end"})


def main():
    if ring.native is None and not os.environ.get("WHYSTOP_NO_NATIVE"):
        sys.exit(77)
    count, report = int(sys.argv[1]), sys.argv[2]
    completed = mmap.mmap(-1, 4096)
    with open(report, "w") as out:
        for _ in range(count):
            completed[0:8] = bytes(8)
            child = os.fork()
            if child == 0:
                write_for_ever(completed)
            while completed[0:8] == bytes(8):
                time.sleep(0.0001)
            time.sleep(random.uniform(0, 0.004))
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            (path,) = glob.glob(os.path.join(os.environ["WHYSTOP_RING_DIR"], "%d-*.ring" % child))
            out.write("%s %d\n" % (os.path.basename(path), struct.unpack("<q", completed[0:8])[0]))


main()
