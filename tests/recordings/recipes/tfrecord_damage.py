"""Damaged TFRecord files, made byte by byte: cut, flipped, overwritten, of another format, wrongly compressed."""

from __future__ import annotations

import gzip
import io
import struct
import tarfile
import zlib

from recipes.frames import masked_crc32c, recordio_part, tfrecord, tfrecord_header

PAYLOADS = [b"first record", b"", b"third record, the one that gets damaged", b"four", b"fifth and last"]
FRAMES = [tfrecord(payload) for payload in PAYLOADS]
STARTS = [sum(len(frame) for frame in FRAMES[:position]) for position in range(len(FRAMES))]
WHOLE = b"".join(FRAMES)
THIRD = STARTS[2]


def flip(data: bytes, position: int, bit: int = 0) -> bytes:
    """Return data with one bit changed."""
    return data[:position] + bytes([data[position] ^ 1 << bit]) + data[position + 1 :]


def cuts() -> dict[str, bytes]:
    """Return files cut inside the header, the payload and the checksum, of the first and of a later record."""
    size = len(PAYLOADS[2])
    cases = {f"cut_header_{left:02}": WHOLE[: THIRD + left] for left in range(1, 12)}
    cases |= {f"cut_first_header_{left:02}": WHOLE[:left] for left in (1, 8, 11)}
    cases |= {f"cut_payload_{left:02}": WHOLE[: THIRD + 12 + left] for left in (0, 1, size - 1, size)}
    cases |= {f"cut_payload_crc_{left}": WHOLE[: THIRD + 12 + size + left] for left in (1, 2, 3)}
    cases |= {"cut_first_payload": WHOLE[:20], "cut_last_crc": WHOLE[:-1], "cut_empty_record": WHOLE[: STARTS[1] + 14]}
    return cases


def flips() -> dict[str, bytes]:
    """Return files with one bit changed in each part of a record."""
    size = len(PAYLOADS[2])
    cases = {f"flip_length_{byte}": flip(WHOLE, THIRD + byte) for byte in range(8)}
    cases |= {f"flip_length_crc_{byte}": flip(WHOLE, THIRD + 8 + byte, 3) for byte in range(4)}
    cases |= {f"flip_payload_{place:02}": flip(WHOLE, THIRD + 12 + place, 5) for place in (0, 17, size - 1)}
    cases |= {f"flip_payload_crc_{byte}": flip(WHOLE, THIRD + 12 + size + byte, 7) for byte in range(4)}
    first = {"length": 0, "length_crc": 8, "payload": 12, "payload_crc": 12 + len(PAYLOADS[0])}
    cases |= {f"flip_first_{name}": flip(WHOLE, place) for name, place in first.items()}
    cases["flip_empty_record_crc"] = flip(WHOLE, STARTS[1] + 12)
    return cases


def zeros() -> dict[str, bytes]:
    """Return files with zeros appended, or in place of whole parts."""
    cases = {f"zeros_appended_{count:02}": WHOLE + bytes(count) for count in (1, 11, 12, 16, 64)}
    cases |= {f"zeros_hole_{count:02}": WHOLE[:THIRD] + bytes(count) + WHOLE[THIRD:] for count in (4, 12, 16, 64)}
    wiped = {"header": (0, 12), "payload": (12, 30), "whole": (0, len(FRAMES[2]))}
    for name, (start, stop) in wiped.items():
        cases[f"zeros_over_{name}"] = WHOLE[: THIRD + start] + bytes(stop - start) + WHOLE[THIRD + stop :]
    return cases | {f"only_zeros_{count}": bytes(count) for count in (11, 12, 4096)}


def lengths() -> dict[str, bytes]:
    """Return files whose third record states a wrong length under a right checksum."""
    size = len(PAYLOADS[2])
    stated = {"one_less": size - 1, "one_more": size + 1, "to_the_end": len(WHOLE) - THIRD - 16}
    stated |= {"2e31": 2**31, "2e40": 2**40, "2e62": 2**62, "2e63": 2**63, "2e64_minus_16": 2**64 - 16}
    stated |= {"2e64_minus_5": 2**64 - 5, "2e64_minus_1": 2**64 - 1}
    cases = {}
    for name, length in stated.items():
        cases[f"length_{name}"] = WHOLE[:THIRD] + tfrecord_header(length) + WHOLE[THIRD + 12 :]
    return cases


def strangers() -> dict[str, bytes]:
    """Return files of other kinds, and whole files with something foreign before or after the records."""
    page = b"<!DOCTYPE html>\n<html><head><title>404 Not Found</title></head><body>Not Found</body></html>\n"
    digest = "4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393"
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{digest}\nsize 12345\n"
    plain_crc = struct.pack("<Q", 4) + struct.pack("<I", zlib.crc32(bytes(8))) + b"abcd" + bytes(4)
    cases = {"html": page, "lfs_pointer": pointer.encode(), "text": b"img/0.png 3\nimg/1.png 5\n", "tar": _tar()}
    cases |= {"recordio": recordio_part(b"a record") * 2, "ofrecord": struct.pack("<q", 5) + b"\x0a\x03\x0a\x01k"}
    cases |= {"png": b"\x89PNG\r\n\x1a\n" + b"\x00\x00\x00\rIHDR" + bytes(17), "crc32_instead_of_crc32c": plain_crc}
    cases["unmasked_crc"] = struct.pack("<QI", 4, _unmask(masked_crc32c(struct.pack("<Q", 4)))) + b"abcd" + bytes(4)
    cases |= {
        f"garbage_after_{len(tail):02}": WHOLE + tail for tail in (b"x", b"eleven byte", b"twelve bytes", b"y" * 40)
    }
    cases["garbage_before"] = b"\n" + WHOLE
    return cases


def _unmask(value: int) -> int:
    value = (value - 0xA282EAD8) & 0xFFFFFFFF
    return (value >> 17 | value << 15) & 0xFFFFFFFF


def _tar() -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        member = tarfile.TarInfo("a.txt")
        member.size = 2
        archive.addfile(member, io.BytesIO(b"hi"))
    return out.getvalue()[:2048]


def _gzip() -> dict[str, bytes]:
    whole = gzip.compress(WHOLE, mtime=0)
    cases = {f"gzip_cut_trailer_{count}": whole[:-count] for count in range(1, 9)}
    cases |= {f"gzip_cut_stream_{count:02}": whole[:-count] for count in (9, 20)}
    cases["gzip_cut_stream_to_2_bytes"] = whole[:12]
    cases |= {f"gzip_cut_header_{left}": whole[:left] for left in (1, 2, 9, 10)}
    cases |= {"gzip_flip_crc": flip(whole, len(whole) - 8), "gzip_flip_size": flip(whole, len(whole) - 4)}
    cases |= {
        "gzip_flip_stream": flip(whole, 30, 4),
        "gzip_flip_magic": flip(whole, 0),
        "gzip_flip_method": flip(whole, 2),
    }
    cases |= {
        "gzip_garbage_after": whole + b"garbage",
        "gzip_zeros_after": whole + bytes(16),
        "gzip_two_members": whole * 2,
    }
    cases["gzip_second_member_cut"] = whole + whole[:30]
    cases["gzip_of_flipped_payload"] = gzip.compress(flip(WHOLE, THIRD + 14), mtime=0)
    cases["gzip_of_cut_payload"] = gzip.compress(WHOLE[: THIRD + 14], mtime=0)
    cases["gzip_of_cut_header"] = gzip.compress(WHOLE[: THIRD + 5], mtime=0)
    cases["gzip_with_name"] = b"\x1f\x8b\x08\x08" + bytes(5) + b"\x03name\0" + whole[10:]
    return cases


def _zlib() -> dict[str, bytes]:
    whole = zlib.compress(WHOLE)
    cases = {f"zlib_cut_trailer_{count}": whole[:-count] for count in range(1, 5)}
    cases |= {f"zlib_cut_stream_{count}": whole[:-count] for count in (5, 8, 20)}
    cases |= {"zlib_flip_checksum": flip(whole, len(whole) - 1), "zlib_flip_stream": flip(whole, 20, 4)}
    cases |= {
        "zlib_garbage_after": whole + b"garbage",
        "zlib_cut_header": whole[:1],
        "zlib_flip_header": flip(whole, 1),
    }
    cases["zlib_of_flipped_payload"] = zlib.compress(flip(WHOLE, THIRD + 14))
    return cases


def damaged() -> dict[str, tuple[str, bytes]]:
    """Return by name the compression to read the file with, and its bytes."""
    plain = {"whole": WHOLE, "empty": b"", **cuts(), **flips(), **zeros(), **lengths(), **strangers()}
    cases = {name: ("", data) for name, data in plain.items()}
    cases |= {name: ("GZIP", data) for name, data in _gzip().items()}
    return cases | {name: ("ZLIB", data) for name, data in _zlib().items()}
