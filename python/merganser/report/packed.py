"""Reader of packed traffic: the text in which records keep a traffic matrix of many flows (src/comm/packed_flows.cpp)."""
from __future__ import annotations

import string

_DIGITS = {digit: at for at, digit in enumerate(string.ascii_uppercase + string.ascii_lowercase + string.digits + "+/")}
_MOVE_STATES = 4


def _numbers(text: str) -> list[int]:
    """Returns the numbers of a text: six bits a character, seven bits of a number in each byte. Raises ValueError."""
    held = bits = value = shift = 0
    out: list[int] = []
    for digit in text:
        if digit not in _DIGITS:
            raise ValueError(f"packed traffic: the character {digit!r} is no digit of it")
        held, bits = (held << 6 | _DIGITS[digit]) & 0x3FFF, bits + 6
        if bits < 8:
            continue
        bits -= 8
        byte = held >> bits & 0xFF
        if shift >= 63 and byte:
            raise ValueError("packed traffic: a number has more than 63 bits")
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            out.append(value)
            value = shift = 0
    if shift:
        raise ValueError("packed traffic: it ends in the middle of a number")
    return out


def unpack_flows(text: str) -> list[tuple[int, int, int, int]]:
    """Returns the flows of a packed traffic matrix: sender, receiver, operations, bytes. Raises ValueError if the text is none."""
    numbers = iter(_numbers(text))
    flows: list[tuple[int, int, int, int]] = []
    sender = receiver = 0
    for step in numbers:
        try:
            if step:
                receiver = 0
            sender += step
            receiver += next(numbers)
            classes = next(numbers) // _MOVE_STATES
            operations, size = next(numbers), next(numbers)
            if classes > 1:
                for _ in range(classes):  # the first class, and the counts of all but the last
                    next(numbers)
        except StopIteration:
            raise ValueError("packed traffic: it ends in the middle of a flow") from None
        flows.append((sender, receiver, operations, size))
    return flows
