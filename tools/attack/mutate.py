"""Spoils bytes: cuts, splices, flips, and values that readers trip over."""
import gzip
import math
import re
import struct
import zlib

WORDS = (b"-1", b"0", b"1e160", b"1e308", b"1e400", b"-0.0", b"nan", b"NaN", b"inf", b"-inf", b"2147483647", b"2147483648",
         b"4294967296", b"9223372036854775807", b"9223372036854775808", b"18446744073709551616", b"1e-320", b"0x10", b"",
         b"%", b"#", b"x", b"\xff\xfe", b"\0", b"\x1b[31m", b"1" * 400, b"-", b".", b"1.5", b"1,5", b"+7", b"1 1 1 1 1 1")
INTEGERS = (0, 1, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**62, 2**63 - 1, 2**63, 2**64 - 1, 2**40, 255)
REALS = (1e160, -1.0, -0.0, math.nan, math.inf, -math.inf, 5e-324, 1.7e308, 2.0**63)
NUMBER = re.compile(rb"[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?")


def place(random, content):
    return random.randrange(len(content) + 1)


def cut(random, content, _):
    return content[:place(random, content)]


def without(random, content, _):
    at, size = place(random, content), random.choice([1, 2, 4, 8, 64, 512])
    return content[:at] + content[at + size:]


def twice(random, content, _):
    at, size = place(random, content), random.choice([1, 8, 100, 4096])
    return content[:at + size] + content[at:]


def splice(random, content, others):
    other = random.choice(others) if others else content[::-1]
    return content[:place(random, content)] + other[place(random, other):]


def flip(random, content, _):
    out = bytearray(content)
    for _ in range(random.choice([1, 1, 2, 8, 64])):
        if out:
            out[random.randrange(len(out))] ^= 1 << random.randrange(8)
    return bytes(out)


def word(random, content, _):
    """A whole number or a real one of 4 or 8 bytes over what stands there."""
    packed = random.choice([struct.pack("<Q", random.choice(INTEGERS)), struct.pack("<d", random.choice(REALS)),
                            struct.pack("<I", random.choice(INTEGERS) & 0xffffffff), struct.pack(">Q", random.choice(INTEGERS))])
    at = place(random, content) & ~(len(packed) - 1 if random.random() < 0.7 else 0)
    return content[:at] + packed + content[at + len(packed):]


def number(random, content, _):
    """Another word in place of a number of a text."""
    found = list(NUMBER.finditer(content[:200000]))
    if not found:
        return content + random.choice(WORDS)
    m = random.choice(found[:8] if random.random() < 0.4 else found)
    return content[:m.start()] + random.choice(WORDS) + content[m.end():]


def line(random, content, _):
    """A line is lost, comes twice, changes its place, or gets company."""
    lines = content.split(b"\n")
    at = random.randrange(len(lines))
    what = random.randrange(6)
    if what == 0:
        del lines[at]
    elif what == 1:
        lines.insert(at, lines[at])
    elif what == 2:
        lines.insert(random.randrange(len(lines)), lines.pop(at))
    elif what == 3:
        lines.insert(at, random.choice(WORDS))
    elif what == 4:
        lines[at] += random.choice([b" ", b"\r", b"\t7", b" " + random.choice(WORDS), b"\0", b"," * 3])
    else:
        lines.insert(at, bytes([random.choice(b"0 x,\t#")]) * random.choice([5000, 300000]))
    return b"\n".join(lines)


def insert(random, content, _):
    at = place(random, content)
    return content[:at] + random.randbytes(random.choice([1, 3, 16, 300])) + content[at:]


def packed(random, content, _):
    """Compressed, whole or cut, or opened if it is compressed."""
    if content[:2] == b"\x1f\x8b":
        try:
            return gzip.decompress(content)
        except (OSError, EOFError, ValueError, zlib.error):
            return content[:2]
    out = gzip.compress(content, mtime=0)
    return random.choice([out, out[:place(random, out)], out + out, out + b"tail", flip(random, out, ())])


def empty(random, _, __):
    return random.choice([b"", b"\n", b"\0", b" ", b"\xef\xbb\xbf", b"\0" * 4096])


TEXT = (cut, without, twice, splice, flip, number, number, number, line, line, insert, packed, empty)
BINARY = (cut, without, twice, splice, flip, flip, word, word, word, insert, packed, empty)


def mutate(random, content, others=()):
    """(bytes, name of the last way)"""
    ways = TEXT if is_text(content) else BINARY
    names = []
    for _ in range(random.choice([1, 1, 1, 2, 3])):
        way = random.choice(ways)
        content = way(random, content, others)[:4 << 20]
        names.append(way.__name__)
    return content, "+".join(names)


def is_text(content):
    return b"\0" not in content[:4096] and all(b < 128 for b in content[:512])
