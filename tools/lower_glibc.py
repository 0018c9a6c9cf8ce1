#!/usr/bin/env python3
"""Makes a program start on an older glibc than the one that it was linked with.

A linker asks for the newest version of every function, also where glibc has kept the older one beside it and the two do the same
(most of them only moved from libpthread into libc). This asks for the newest one that the old glibc has, in the file itself. What
the old one does not have in any version is named, and the file is left as it was: src/portable/old_glibc.c is the place for it.
Usage: lower_glibc.py PROGRAM 2.31
"""

import pathlib
import re
import struct
import subprocess
import sys

SECTION = struct.Struct("<IIQQQQIIQQ")
NEED = struct.Struct("<HHIII")
NEED_VERSION = struct.Struct("<IHHII")
DYNSYM, GNU_VERNEED, GNU_VERSYM = 11, 0x6FFFFFFE, 0x6FFFFFFF


class Refusal(Exception):
    pass


def age(version: bytes):
    """The parts of GLIBC_2.31 as numbers; None for what is no version of glibc."""
    found = re.fullmatch(rb"GLIBC_(\d+(?:\.\d+)+)", version)
    return tuple(map(int, found[1].split(b"."))) if found else None


def elf_hash(name: bytes) -> int:
    value = 0
    for byte in name:
        value = (value << 4) + byte
        high = value & 0xF0000000
        value = (value ^ (high >> 24)) & ~high & 0xFFFFFFFF
    return value


def text_at(data, offset) -> bytes:
    return bytes(data[offset:data.index(0, offset)])


class Program:
    """The versions that a 64-bit little-endian ELF file asks for, and the symbols that ask."""

    def __init__(self, path):
        self.data = bytearray(pathlib.Path(path).read_bytes())
        if self.data[:6] != b"\x7fELF\x02\x01":
            raise Refusal(f"{path}: no 64-bit little-endian ELF file")
        table, = struct.unpack_from("<Q", self.data, 0x28)
        size, count = struct.unpack_from("<HH", self.data, 0x3A)
        parts = [SECTION.unpack_from(self.data, table + index * size) for index in range(count)]
        kinds = {part[1]: part for part in parts}
        if not {DYNSYM, GNU_VERNEED, GNU_VERSYM} <= kinds.keys():
            raise Refusal(f"{path}: asks for no versions")
        self.symbols, self.versions = kinds[DYNSYM], kinds[GNU_VERSYM]
        self.strings = parts[self.symbols[6]][4]
        self.needs = self.read_needs(kinds[GNU_VERNEED])

    def read_needs(self, part):
        """Version index -> (place of its record, name); which of them are asked of libc itself stands in `of_libc`."""
        out, need = {}, part[4]
        self.of_libc = set()
        while True:
            _, count, library, first, following = NEED.unpack_from(self.data, need)
            place = need + first
            for _ in range(count):
                _, _, index, name, after = NEED_VERSION.unpack_from(self.data, place)
                out[index] = (place, text_at(self.data, self.strings + name))
                if text_at(self.data, self.strings + library).startswith(b"libc.so"):
                    self.of_libc.add(index)
                place += after
            if not following:
                return out
            need += following

    def asking(self):
        """(symbol, index, version, place of the index) of all symbols that ask for a version."""
        for number in range(self.symbols[5] // 24):
            place = self.versions[4] + 2 * number
            index = struct.unpack_from("<H", self.data, place)[0] & 0x7FFF
            if index in self.needs:
                name, = struct.unpack_from("<I", self.data, self.symbols[4] + 24 * number)
                yield text_at(self.data, self.strings + name), index, self.needs[index][1], place

    def rename(self, index, name_offset, version):
        place, _ = self.needs[index]
        struct.pack_into("<I", self.data, place, elf_hash(version))
        struct.pack_into("<I", self.data, place + 8, name_offset)


def versions_of(libraries):
    """Symbol -> the versions in which these libraries have it."""
    out = {}
    for library in libraries:
        shown = subprocess.run(["readelf", "--dyn-syms", "--wide", library], check=True, capture_output=True).stdout
        for symbol, version in re.findall(rb"(?m) (\S+?)@@?(GLIBC_[\d.]+)\s*$", shown):
            out.setdefault(symbol, set()).add(version)
    return out


def lower(path, newest_allowed: tuple) -> int:
    program = Program(path)
    known = versions_of(loaded_libraries(path))
    wanted, missing = [], []
    for symbol, index, version, place in program.asking():
        if (age(version) or ()) <= newest_allowed:
            continue
        older = [each for each in known.get(symbol, ()) if age(each) <= newest_allowed]
        if older:
            wanted.append((place, max(older, key=age)))
        else:
            missing.append(f"{symbol.decode()} ({version.decode()})")
    if missing:
        raise Refusal(f"{path}: not in this glibc: {', '.join(sorted(missing))}")
    named = {name: index for index, (_, name) in program.needs.items()}
    free = [index for index, (_, name) in program.needs.items() if (age(name) or ()) > newest_allowed]
    for version in sorted({version for _, version in wanted} - named.keys()):
        give_name(program, free, version, named)
    for place, version in wanted:
        struct.pack_into("<H", program.data, place, named[version])
    oldest = min((name for name in named if age(name) and age(name) <= newest_allowed), key=age)
    name_offset = struct.unpack_from("<I", program.data, program.needs[named[oldest]][0] + 8)[0]
    for index in free:  # Nobody asks for them any more; a record cannot be taken out, so it asks for what is there anyway.
        program.rename(index, name_offset, oldest)
    pathlib.Path(path).write_bytes(program.data)
    return len(wanted)


def give_name(program, free, version, named):
    """Writes a version's name over that of a free record of libc, which is as long, and gives it that record."""
    for index in free:
        place, name = program.needs[index]
        if len(name) == len(version) and index in program.of_libc:
            offset, = struct.unpack_from("<I", program.data, place + 8)
            if any(struct.unpack_from("<I", program.data, other + 8)[0] == offset
                   for each, (other, _) in program.needs.items() if each != index):
                continue  # Its name is another record's too.
            program.data[program.strings + offset:program.strings + offset + len(version)] = version
            program.rename(index, offset, version)
            free.remove(index)
            named[version] = index
            return
    raise Refusal(f"no room for the name {version.decode()}")


def loaded_libraries(path):
    shown = subprocess.run(["ldd", path], check=True, capture_output=True, text=True).stdout
    return [line.split()[2] for line in shown.splitlines() if " => /" in line]


def main() -> int:
    path, newest = sys.argv[1:]
    try:
        count = lower(path, tuple(map(int, newest.split("."))))
    except Refusal as refusal:
        print(f"lower_glibc: {refusal}", file=sys.stderr)
        return 1
    print(f"{path}: {count} symbols ask for an older version; runs from glibc {newest} on")
    return 0


if __name__ == "__main__":
    sys.exit(main())
