"""The table of refusals: which system calls, limits and places a run under whystop may be denied, and what it loses then.

`python refusals.py` prints the table of docs/refusals.md; test_refusals.py holds every row of it.
"""

import concurrent.futures
import json
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ.get("WHYSTOP_BUILD", HERE.parents[1] / "build")).resolve()
WHYSTOP = str(BUILD / "whystop")
PATIENCE_S = 120  # Beyond this a run hangs.

# What supervise, record, sense and wire ask of the system, with the answers that are tried besides ENOSYS and EPERM.
CALLS = {
    "close_range": "", "splice": "EINVAL", "tee": "EINVAL", "pidfd_open": "EMFILE", "pidfd_send_signal": "", "signalfd4": "EMFILE ENFILE",
    "timerfd_create": "EMFILE", "timerfd_settime": "", "eventfd2": "EMFILE", "socketpair": "EMFILE EACCES", "sendto": "EAGAIN", "recvfrom": "",
    "pipe2": "EMFILE ENFILE", "dup3": "EBUSY", "thread": "EAGAIN", "fork": "EAGAIN ENOMEM", "waitid": "", "setsid": "", "getsid": "", "prctl": "",
    "prlimit64": "", "getrusage": "", "uname": "", "kill": "", "flock": "ENOLCK EOPNOTSUPP", "fdatasync": "EIO ENOSPC", "ftruncate": "ENOSPC EFBIG",
    "fallocate": "ENOSPC EOPNOTSUPP", "pwrite64": "ENOSPC EDQUOT EROFS EIO", "pread64": "EIO", "rename": "EXDEV", "renameat": "", "renameat2": "",
    "mkdir": "EROFS ENOSPC", "mkdirat": "EROFS", "symlink": "", "symlinkat": "", "readlink": "", "readlinkat": "", "statx": "", "statfs": "EIO",
    "getdents64": "EIO", "sysinfo": "", "sched_getaffinity": "", "syslog": "", "socket": "EMFILE", "inotify_init1": "EMFILE", "fadvise64": "",
    "membarrier": "", "getrandom": "EAGAIN", "copy_file_range": "", "process_vm_readv": "", "poll": "EINVAL", "ppoll": "",
}

# Things that a run may have little of; each is set in the child before it starts.
LIMITS = {
    "nofile 3 to 80": [("RLIMIT_NOFILE", count) for count in (6, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 56, 64, 72, 80)],
    "nofile soft only": [("RLIMIT_NOFILE", (count, 4096)) for count in (8, 12, 20, 40)],
    "file size": [("RLIMIT_FSIZE", count) for count in (0, 1, 4096, 1 << 20)],
    "locked memory": [("RLIMIT_MEMLOCK", 0)],
    "address space": [("RLIMIT_AS", mib << 20) for mib in (24, 32, 48, 64, 96, 128, 256)],
    "data": [("RLIMIT_DATA", mib << 20) for mib in (8, 16, 32)],
    "stack": [("RLIMIT_STACK", 256 << 10)],
    "pending signals": [("RLIMIT_SIGPENDING", 0)],
    "message queues": [("RLIMIT_MSGQUEUE", 0)],
}

JOB = """
import os, sys
with open("made by the job", "w") as file:
    file.write("x" * 100)
for i in range(3000):
    sys.stdout.write("%d %s\\n" % (i, "y" * 100))
sys.stdout.flush()
sys.stderr.write("said on stderr\\nand without an end of line")
sys.stderr.flush()
os._exit(3)
"""


def own_line(line):
    return line.startswith((b"whystop: ", b"  details: ", b"  hint: "))


def without_our_lines(text):
    """What the job said: our lines come before its first and behind its last, on lines of their own."""
    lines = text.split(b"\n")
    ours = [line for line in lines if own_line(line)]
    rest = b"\n".join(line for line in lines if not own_line(line))
    return rest.rstrip(b"\n"), b"\n".join(ours).decode(errors="replace")


def run(command, folder, limit=None, environment=None):
    """How a run ended: status, stdout, stderr, files."""

    def prepare():
        if limit is not None:
            number, value = getattr(resource, limit[0]), limit[1]
            resource.setrlimit(number, value if isinstance(value, tuple) else (value, value))

    ran = subprocess.run(command, cwd=folder, capture_output=True, stdin=subprocess.DEVNULL, timeout=PATIENCE_S, check=False,
                         preexec_fn=prepare if limit else None, env=environment)
    files = {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}
    return ran.returncode, ran.stdout, ran.stderr, files


def refusing(refused):
    return [sys.executable, "-I", "-S", str(HERE / "refuse.py"), refused, "--"] if refused else []


def job_command():
    return [sys.executable, "-I", "-S", "-c", JOB]


class Outcome:
    def __init__(self, name, harm, lost):
        self.name, self.harm, self.lost = name, harm, lost


def compare(name, refused="", limit=None, environment=None, where=None):
    """Runs the job bare and under whystop, both denied the same; what differs is harm."""
    with tempfile.TemporaryDirectory(prefix="whystop refusal ") as made:
        folders = [pathlib.Path(made) / part for part in ("bare", "watched")]
        for folder in folders:
            folder.mkdir()
        recording = where or str(pathlib.Path(made) / "recording")
        try:
            bare = run(refusing(refused) + job_command(), folders[0], limit, environment)
        except (OSError, subprocess.SubprocessError) as fault:
            return Outcome(name, "", f"the bare job does not start: {type(fault).__name__}")
        if bare[0] == 77:
            return Outcome(name, "", "not tried: no seccomp filters here")
        command = refusing(refused) + [WHYSTOP, "run", "--dir", recording, "--", *job_command()]
        try:
            got = run(command, folders[1], limit, environment)
        except subprocess.TimeoutExpired:
            return Outcome(name, "hangs", "")
        if bare[0] < 0 or bare[0] >= 126 or not bare[1]:
            # The bare job fails at this too; then the status must be a failure, whichever.
            return Outcome(name, "" if got[0] != 0 else "succeeds where the bare job fails", "the bare job fails as well")
        return judge(name, bare, got, recording)


def judge(name, bare, got, recording, inspected=None):
    """What differs between the two runs, and what the recording lacks; `inspected`: what `whystop inspect` said of it."""
    said, ours = without_our_lines(got[2])
    harm = []
    if got[0] != bare[0]:
        harm.append(f"status {got[0]}, bare {bare[0]}")
    if got[1] != bare[1]:
        harm.append(f"{len(got[1])} bytes on stdout, bare {len(bare[1])}")
    if said != bare[2].rstrip(b"\n"):
        harm.append(f"stderr {said[-300:]!r}, bare {bare[2]!r}")
    if got[3] != bare[3]:
        harm.append(f"files {sorted(got[3])}, bare {sorted(bare[3])}")
    return Outcome(name, "; ".join(harm), what_is_lost(recording, ours, inspected) if not harm else ours[-300:])


def what_is_lost(recording, ours, inspected=None):
    if "the job runs without whystop" in ours:
        return "everything but the job: " + ours.split("cannot watch this run: ")[1].split("; the job")[0]
    if "the job runs without a recording" in ours:
        return "the recording"
    if inspected is None:
        inspected = subprocess.run([WHYSTOP, "inspect", recording], capture_output=True, text=True, check=False).stdout
    rows = inspected.splitlines()
    events = [json.loads(row) for row in rows if row.startswith("{")]
    text = "".join(rows)
    lost = []
    if not any(event.get("event", event.get("kind")) == "run-end" for event in events):
        lost.append("the end of the run on record")
    if "said on stderr" not in text:
        lost.append("the job's output on record")
    if "copied by hand" in text:
        lost.append("output that a SIGKILL of whystop meets on its way")
    if "details: whystop why" not in ours:
        lost.append("the verdict on stderr")
    return ", ".join(lost) or "nothing that this run would show"


def rows():
    """Every case: a name and the arguments of compare()."""
    found = []
    for call, faults in CALLS.items():
        for fault in ["ENOSYS", "EPERM", *faults.split()]:
            found.append((f"{call} {fault}", {"refused": f"{call}={fault}"}))
    for name, limits in LIMITS.items():
        for limit in limits:
            found.append((f"{name}: {limit[1]}", {"limit": limit}))
    bare = {name: value for name, value in os.environ.items() if name not in ("HOME", "WHYSTOP_HOME", "XDG_STATE_HOME")}
    found += [
        ("no HOME", {"environment": bare}),
        ("empty environment", {"environment": {}}),
        ("recording in a place that is no folder", {"where": "/dev/null/recording"}),
        ("recording in /proc", {"where": "/proc/recording"}),
        ("recording in /sys", {"where": "/sys/recording"}),
        ("recording on a full device", {"where": "/dev/full"}),
    ]
    return found


def side_by_side(function, cases):
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        return [future.result() for future in [pool.submit(function, *case) for case in cases]]


def outcomes(chosen=None):
    return side_by_side(lambda name, arguments: compare(name, **arguments), chosen or rows())


def table(found):
    """The rows for docs/refusals.md: what loses the same is one row, most cases first."""
    by_loss = {}
    for outcome in found:
        name, _, detail = outcome.name.partition(": ") if ": " in outcome.name else outcome.name.rpartition(" ")
        if outcome.name.rpartition(" ")[2].isupper() and " " in outcome.name:
            name, _, detail = outcome.name.rpartition(" ")
        elif ": " not in outcome.name:
            name, detail = outcome.name, ""
        text = f"**harmed**: {outcome.harm}" if outcome.harm else outcome.lost.split(": ")[0]
        by_loss.setdefault(text, {}).setdefault(name, []).append(detail)
    rows_found = sorted(by_loss.items(), key=lambda item: -sum(map(len, item[1].values())))
    lines = ["| what is lost | cases | denied |", "| --- | --- | --- |"]
    for text, names in rows_found:
        denied = "; ".join(f"{name} ({', '.join(filter(None, details))})" if any(details) else name for name, details in names.items())
        lines.append(f"| {text} | {sum(map(len, names.values()))} | {denied} |")
    return "\n".join(lines)


def main():
    if shutil.which(WHYSTOP) is None:
        sys.exit(f"{WHYSTOP} is not built")
    print(table(outcomes()))


if __name__ == "__main__":
    main()
