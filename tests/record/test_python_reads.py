"""Another language reads a recording with protobuf and a few lines for the frames, as docs/format.md says."""

import os
import pathlib
import shutil
import struct
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
WHYSTOP = pathlib.Path(os.environ.get("WHYSTOP_BUILD", ROOT / "build")).resolve() / "whystop"


@pytest.fixture
def messages(tmp_path):
    if not shutil.which("protoc"):
        pytest.skip("protoc is not installed")
    subprocess.run(["protoc", f"--proto_path={ROOT / 'src' / 'record'}", f"--descriptor_set_out={tmp_path / 'set'}",
                    "recording.proto"], check=True)
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    files = descriptor_pb2.FileDescriptorSet.FromString((tmp_path / "set").read_bytes())
    pool = descriptor_pool.DescriptorPool()
    for file in files.file:
        pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("whystop.Record"))


def frames(path: pathlib.Path):
    data = path.read_bytes()
    at = 0
    while at + 12 <= len(data):
        (length,) = struct.unpack_from("<Q", data, at)
        yield data[at + 12 : at + 12 + length]
        at += 16 + length


def test_python_reads_a_recording(messages, tmp_path):
    folder = tmp_path / "recording"
    subprocess.run([WHYSTOP, "run", "-q", "--dir", folder, "--", sys.executable, "-c", "print('loss 0.5'); exit(3)"],
                   stdout=subprocess.DEVNULL, check=False)
    records = [messages.FromString(body) for body in frames(folder / "events.tfrecord")]
    kinds = [record.WhichOneof("body") for record in records]
    assert kinds[0] == "header"
    assert records[0].header.format == 1
    assert "run_start" in kinds and kinds[-1] == "run_end"
    assert records[-1].run_end.end.number == 3
    log = b"".join(record.log_bytes.bytes for record in records if record.WhichOneof("body") == "log_bytes")
    assert log == b"loss 0.5\n"
