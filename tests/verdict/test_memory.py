"""Real out-of-memory kills in a real memory control group."""

HOG = "blocks = []\nwhile True:\n    blocks.append(bytearray(4 << 20))\n"


def test_a_kill_in_a_control_group_is_named_with_counter_and_kernel_record(watched, memory_group):
    watched.run(*memory_group, "python3", "-c", HOG)
    verdict = watched.verdict
    assert watched.done.returncode == 137
    assert verdict["outcome"] == "killed"
    assert watched.roots == ["cgroup-oom-kill"]
    root = verdict["causes"][0]
    assert root["confidence"] == "certain"
    kinds = {item["kind"] for item in root["evidence"]}
    assert "cgroup-counter" in kinds or "kernel-log" in kinds, root["evidence"]
    assert "out-of-memory" in verdict["exit"]["sent_by"]


def test_only_a_child_was_killed_and_the_script_returned_0(watched, memory_group):
    script = (
        "import subprocess, sys, time\n"
        f"child = subprocess.run([sys.executable, '-c', {HOG!r}])\n"
        "print('worker ended', child.returncode)\n"
        "time.sleep(0.3)\n"
    )
    watched.run(*memory_group, "python3", "-c", script)
    assert watched.done.returncode == 0
    assert watched.verdict["outcome"] == "completed"
    assert "dataloader-worker-killed" in watched.causes
    assert watched.roots[0] in ("cgroup-oom-kill", "dataloader-worker-killed")


def test_a_killed_child_that_was_never_sampled_is_known_by_its_group(watched, memory_group):
    eat = "head -c 300000000 /dev/zero | tail >/dev/null"  # One line without an end, which `tail` must keep whole.
    watched.run(*memory_group, "sh", "-c", f"sh -c '{eat}'; sleep 0.3; exit 0")
    assert watched.verdict["outcome"] == "completed"
    assert watched.roots == ["cgroup-oom-kill"]
    assert "dataloader-worker-killed" in watched.causes


def test_a_child_that_the_program_kills_itself_is_no_fault(watched):
    watched.python("import subprocess\nchild = subprocess.Popen(['sleep', '30'])\nchild.kill()\nchild.wait()\n")
    assert watched.done.returncode == 0
    assert watched.verdict["outcome"] == "completed"
    assert not [cause for cause in watched.verdict["causes"] if cause["fault"]]
