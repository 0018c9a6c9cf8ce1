"""Places where much is missing: no /proc, no /sys, full and read-only disks, namespaces, other users, no HOME.

`python surroundings.py` prints the table of docs/refusals.md; test_surroundings.py holds every row of it. Where the machine does not
let us make a place (no right to make namespaces), its row says so.
"""

import errno
import functools
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import denials
import refusals

NOBODY = 54321  # A number that nobody has.
CANNOT = 77
NOTHING = "nothing that this run would show"

# In sh: it runs for any user, with nothing but /bin and /usr.
JOB = r"""
printf 'x' > 'made by the job'
i=0
while [ $i -lt 300 ]; do echo "$i yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy"; i=$((i + 1)); done
printf 'said on stderr\nand without an end of line' >&2
exit 3
"""
# A probe's ring beside it: any module of that name opens it.
TRAINING = """
import sys
sys.path.insert(0, sys.argv[1])
import torch
print("trained")
sys.stderr.write("said on stderr\\n")
sys.exit(3)
"""

EMPTY = "mount -t tmpfs none {0} || exit 77\n"
# Name -> flags of unshare, what is done inside before the job starts ($PLACE: where the recording goes), and the user.
PLACES = {
    "no /proc": (["--mount"], EMPTY.format("/proc"), None),
    "no /sys": (["--mount"], EMPTY.format("/sys"), None),
    "neither /proc nor /sys": (["--mount"], EMPTY.format("/proc") + EMPTY.format("/sys"), None),
    "/proc of another PID namespace": (["--mount", "--pid", "--fork"], "", None),
    "/proc that shows only one's own": (["--mount", "--pid", "--fork"], "mount -t proc -o hidepid=2 proc /proc || exit 77\n", NOBODY),
    "no /dev": (["--mount"], EMPTY.format("/dev"), None),
    "a small /dev/shm": (["--mount"], "mount -t tmpfs -o size=64k none /dev/shm || exit 77\n", None),
    "no /dev/shm": (["--mount"], "mount -t tmpfs -o size=4k,nr_inodes=1 none /dev/shm || exit 77\n", None),
    "no /tmp to write to": (["--mount"], "mount -t tmpfs -o ro none /var/tmp || exit 77\nexport TMPDIR=/var/tmp\nunset HOME\n", None),
    "a user namespace as root": (["--user", "--map-root-user"], "", None),
    "a user namespace as nobody": (["--user"], "", None),
    "a user and a PID namespace": (["--user", "--map-root-user", "--pid", "--fork", "--mount-proc"], "", None),
    "process 1": (["--pid", "--fork", "--mount-proc"], "exec \"$@\"\n", None),
    "a network namespace": (["--net"], "", None),
    "a cgroup namespace": (["--cgroup"], "", None),
    "another user": ([], "", NOBODY),
    "another user whose HOME is not his": ([], "export HOME=/\n", NOBODY),
    "no HOME": ([], "unset HOME WHYSTOP_HOME XDG_STATE_HOME\n", None),
    "a HOME that does not exist": ([], "export HOME=/nowhere/at/all\nunset WHYSTOP_HOME XDG_STATE_HOME\n", None),
    "an empty environment": ([], "exec env -i \"$@\"\n", None),
    "a working folder that was removed": ([], "mkdir gone && cd gone && rmdir ../gone || exit 77\n", None),
    "closed standard descriptors": ([], "exec \"$@\" <&-\n", None),
}
# The same for the place of the recording.
RECORDINGS = {
    "on a disk without room": "mount -t tmpfs -o size=8k none \"$PLACE\" || exit 77\nhead -c 100000 /dev/zero > \"$PLACE/full\" 2>/dev/null\n",
    "on a disk with little room": "mount -t tmpfs -o size=200k none \"$PLACE\" || exit 77\n",
    "on a disk without inodes": "mount -t tmpfs -o size=10m,nr_inodes=2 none \"$PLACE\" || exit 77\n",
    "on a disk with few inodes": "mount -t tmpfs -o size=10m,nr_inodes=8 none \"$PLACE\" || exit 77\n",
    "on a disk that may only be read": "mount -t tmpfs -o ro none \"$PLACE\" || exit 77\n",
    "on a disk that executes nothing": "mount -t tmpfs -o noexec,nosuid,nodev,size=50m none \"$PLACE\" || exit 77\n",
    "on an overlay": "mkdir -p \"$PLACE/l\" \"$PLACE/u\" \"$PLACE/w\" && mount -t tmpfs none \"$PLACE\" && mkdir \"$PLACE/l\" \"$PLACE/u\" \"$PLACE/w\" "
                     "&& mount -t overlay -o \"lowerdir=$PLACE/l,upperdir=$PLACE/u,workdir=$PLACE/w\" none \"$PLACE\" || exit 77\n",
}

BECOME = "import os, sys; os.setgroups([]); os.setgid({0}); os.setuid({0}); os.execvp(sys.argv[1], sys.argv[1:])"


def inside(flags, prepare, user, command, recording, inspected):
    """The command in that place; `whystop inspect` afterwards is also run there, where `inspected` names a file for it."""
    as_user = ["/usr/bin/env", "python3", "-I", "-S", "-c", BECOME.format(user)] if user is not None else []
    script = f"PLACE=$1; shift; INSPECTED=$1; shift\n{prepare}"
    script += '"$@"\ncode=$?\n'
    if inspected:
        script += f"'{refusals.WHYSTOP}' inspect \"$PLACE/r\" > \"$INSPECTED\" 2>/dev/null\n"
    script += "exit $code\n"
    unshare = ["unshare", *flags] if flags else []
    return [*unshare, "/bin/sh", "-c", script, "sh", str(recording), str(inspected or ""), *as_user, *command]


def seen_in(inspected):
    """What a recording holds besides the run and its output, in words."""
    events = [json.loads(line) for line in inspected.splitlines() if line.startswith("{")]
    names = {"host": "the machine's readings", "tree": "the job's readings", "process": "readings of processes", "cgroup": "readings of cgroups", "mount": "readings of disks"}
    kinds = {event["id"]: names.get(event["of"]) for event in events if event["kind"] == "subject"}
    found = {kinds.get(reading["subject"]) for event in events if event["kind"] == "sample" for reading in event["readings"]}
    found.update("what the probe sees" for event in events if event["kind"] == "observation" and event["what"] == "process-exit")
    return found - {None}


@functools.cache
def seen_elsewhere(job):
    """The same of the job in an ordinary place."""
    with tempfile.TemporaryDirectory(prefix="whystop ordinary ") as made:
        top = pathlib.Path(made)
        refusals.run([refusals.WHYSTOP, "run", "-q", "--dir", str(top / "r"), "--", *job(top)], top)
        return seen_in(subprocess.run([refusals.WHYSTOP, "inspect", str(top / "r")], capture_output=True, text=True, check=False).stdout)


def compare(name, flags, prepare, user, job):
    """The job bare and watched, both in that place; what differs is harm."""
    with tempfile.TemporaryDirectory(prefix="whystop place ") as made:
        top = pathlib.Path(made)
        folders = [top / part for part in ("bare", "watched", "place", "place of the bare")]
        for folder in folders:
            folder.mkdir()
        if user is not None:
            for folder in [top, *folders]:
                os.chown(folder, user, user)
        bare = refusals.run(inside(flags, prepare, user, job(top), folders[3], None), folders[0])
        if bare[0] == CANNOT or b"unshare" in bare[2] or b"PermissionError" in bare[2]:
            return refusals.Outcome(name, "", "not tried: this machine does not let us make it")
        replaces_shell = 'exec "$@"' in prepare or 'exec env' in prepare
        inspected = None if replaces_shell else top / "inspected"
        watched = [refusals.WHYSTOP, "run", "--dir", str(folders[2] / "r"), "--", *job(top)]
        got = refusals.run(inside(flags, prepare, user, watched, folders[2], inspected), folders[1])
        if inspected is None:
            text = subprocess.run([refusals.WHYSTOP, "inspect", str(folders[2] / "r")], capture_output=True, text=True, check=False).stdout
        else:
            text = inspected.read_text(errors="replace") if inspected.exists() else ""
        outcome = refusals.judge(name, bare, got, str(folders[2] / "r"), text)
        if not outcome.harm and "the recording" not in outcome.lost:
            missing = sorted(seen_elsewhere(job) - seen_in(text))
            lost = [outcome.lost] if outcome.lost != NOTHING else []
            outcome.lost = ", ".join(lost + missing) or NOTHING
        if bare[0] != 3:
            outcome.harm = f"the bare job ended with {bare[0]}: {bare[2]!r}"
        return outcome


def shell_job(_):
    return ["/bin/sh", "-c", JOB]


def training_job(top):
    module = top / "torch"
    if not module.exists():
        module.mkdir(mode=0o755)
        (module / "__init__.py").write_text("")
    return [sys.executable, "-c", TRAINING, str(top)]


def without_mappings(name, fault):
    """The training process may not map files, as on some network file systems: no ring, and the training goes on."""
    with tempfile.TemporaryDirectory(prefix="whystop mapping ") as made:
        top = pathlib.Path(made)
        folders = [top / part for part in ("bare", "watched")]
        for folder in folders:
            folder.mkdir()
        job = training_job(top)
        bare = refusals.run(job, folders[0])
        rule = f"{denials.numbers()['mmap']}:{getattr(errno, fault)}s"
        command = [denials.DENY, os.path.realpath(sys.executable), "start", rule, str(top / "seen"), "60", "--",
                   refusals.WHYSTOP, "run", "--dir", str(top / "r"), "--", *job]
        got = refusals.run(command, folders[1])
        if got[0] == CANNOT:
            return refusals.Outcome(name, "", "not tried: no seccomp filters here")
        outcome = refusals.judge(name, bare, got, str(top / "r"))
        text = subprocess.run([refusals.WHYSTOP, "inspect", str(top / "r")], capture_output=True, text=True, check=False).stdout
        if not outcome.harm and outcome.lost == NOTHING:
            outcome.lost = ", ".join(sorted(seen_elsewhere(training_job) - seen_in(text))) or NOTHING
        return outcome


def rows():
    found = [(compare, (name, flags, prepare, user, shell_job)) for name, (flags, prepare, user) in PLACES.items()]
    for name, prepare in RECORDINGS.items():
        found.append((compare, (f"a recording {name}", ["--mount"], prepare, None, shell_job)))
        found.append((compare, (f"a recording and a probe {name}", ["--mount"], prepare, None, training_job)))
    return found + [(without_mappings, (f"shared mappings of files refused ({fault})", fault)) for fault in ("ENODEV", "EACCES", "ENOMEM")]


def outcomes():
    return refusals.side_by_side(lambda function, arguments: function(*arguments), rows())


def main():
    print("| where | what is lost |\n| --- | --- |")
    for outcome in outcomes():
        print(f"| {outcome.name} | {'**harmed**: ' + outcome.harm if outcome.harm else outcome.lost.split(': ')[0]} |")


if __name__ == "__main__":
    main()
