"""Calls of `gfile`, of whole files and of record files, in an empty folder, in this order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

Cases = Iterator[tuple[str, Callable[[], Any]]]


def _write(tf: Any, name: str, mode: str, content: Any) -> Any:
    with tf.io.gfile.GFile(name, mode) as file:
        return file.write(content)


def _read(tf: Any, name: str, mode: str = "r", *count: int) -> Any:
    with tf.io.gfile.GFile(name, mode) as file:
        return file.read(*count)


def _tour(tf: Any) -> list[Any]:
    with tf.io.gfile.GFile("a/x.txt", "r") as file:
        found = [file.size(), file.tell(), file.readline(), file.tell(), list(file), file.read(), file.readline()]
        file.seek(4)
        found += [file.read(2), file.tell()]
        file.seek(-3, 2)
        found.append(file.read())
        file.seek(2, 0)
        file.seek(1, 1)
        found += [file.read(1), file.name, file.mode, file.seekable()]
        file.seek(offset=0)
        found.append(file.readlines())
    return found


def _sought(tf: Any, *place: int) -> Any:
    file = tf.io.gfile.GFile("a/x.txt")
    file.seek(*place)
    return file.read()


def _files(tf: Any) -> Cases:
    g = tf.io.gfile
    yield "make folders", lambda: g.makedirs("a/b")
    yield "make folders again", lambda: g.makedirs("a/b")
    yield "make a folder again", lambda: g.mkdir("a")
    yield "make a folder in none", lambda: g.mkdir("q/r")
    yield "write text", lambda: _write(tf, "a/x.txt", "w", "one\ntwo\n\nlast")
    yield "write bytes", lambda: _write(tf, "a/y.bin", "wb", b"\0\1\xff")
    yield "write bytes as text", lambda: _write(tf, "a/z", "w", b"bytes")
    yield "write text as bytes", lambda: _write(tf, "a/z", "wb", "text")
    yield "append", lambda: _write(tf, "a/x.txt", "a", "!")
    yield "write where no folder is", lambda: _write(tf, "nope/x", "w", "1")
    yield "write a file that is read", lambda: _write(tf, "a/x.txt", "r", "1")
    yield "read a file that is written", lambda: _read(tf, "a/x.txt", "a")
    yield "no mode", lambda: _write(tf, "a/x.txt", "rw", "1")
    yield "read text", lambda: _read(tf, "a/x.txt")
    yield "read bytes", lambda: _read(tf, "a/x.txt", "rb")
    yield "read some", lambda: _read(tf, "a/x.txt", "r", 3)
    yield "read what is no text", lambda: _read(tf, "a/y.bin")
    yield "read nothing", lambda: _read(tf, "miss")
    yield "read a folder", lambda: _read(tf, "a")
    yield "a tour", lambda: _tour(tf)
    yield "beyond the end", lambda: _sought(tf, 1000)
    yield "before the begin", lambda: _sought(tf, -1)
    yield "from nowhere", lambda: _sought(tf, 0, 5)
    yield "exists", lambda: [g.exists(name) for name in ("a", "a/x.txt", "zz")]
    yield "is a folder", lambda: [g.isdir(name) for name in ("a", "a/x.txt", "zz")]
    yield "hidden", lambda: _write(tf, "a/.hid", "w", "h")
    yield "deep", lambda: _write(tf, "a/b/deep.txt", "w", "d")
    yield "list", lambda: sorted(g.listdir("a"))
    yield "list nothing", lambda: g.listdir("zz")
    yield "list a file", lambda: g.listdir("a/x.txt")
    for pattern in (
        "a/*",
        "a/*.txt",
        "a/*/*",
        "zz/*",
        "a/[xy].*",
        "a/x.txt",
        "a/{x,y}.*",
        "a/**",
        "*",
        "*/x.txt",
        "./a/x*",
        "a/?.txt",
    ):
        yield f"glob {pattern}", lambda pattern=pattern: sorted(g.glob(pattern))
    yield "glob several", lambda: sorted(g.glob(["a/x*", "a/y*"]))
    yield "matching files", lambda: tf.io.matching_files("a/*")
    yield "matching files of several", lambda: tf.io.matching_files(["a/y*", "a/x*"])
    yield "matching files of none", lambda: tf.io.matching_files("zz*")
    yield "stat", lambda: [g.stat("a/x.txt").length, g.stat("a/x.txt").is_directory, g.stat("a").is_directory]
    yield "stat of nothing", lambda: g.stat("zz")


def _moves(tf: Any) -> Cases:
    g = tf.io.gfile
    yield "copy", lambda: g.copy("a/x.txt", "c.txt")
    yield "copy again", lambda: g.copy("a/x.txt", "c.txt")
    yield "copy over", lambda: g.copy("a/x.txt", "c.txt", True)
    yield "copy nothing", lambda: g.copy("zz", "d.txt")
    yield "copy to no folder", lambda: g.copy("c.txt", "nodir/d.txt")
    yield "rename", lambda: g.rename("c.txt", "e.txt")
    yield "rename to one that is there", lambda: [g.copy("a/x.txt", "c.txt"), g.rename("c.txt", "e.txt")]
    yield "rename over", lambda: g.rename("c.txt", "e.txt", overwrite=True)
    yield "rename nothing", lambda: g.rename("zz", "yy")
    yield "remove", lambda: g.remove("e.txt")
    yield "remove nothing", lambda: g.remove("e.txt")
    yield "remove a folder", lambda: g.remove("a")
    yield "remove no tree", lambda: g.rmtree("zz")
    walked = ("a", "zz", "a/x.txt")
    for name in walked:
        yield (
            f"walk {name}",
            lambda name=name: [[top, sorted(below), sorted(files)] for top, below, files in g.walk(name)],
        )
    yield "walk up", lambda: [top for top, _, _ in g.walk("a", topdown=False)]
    yield "join", lambda: [g.join("a", "b"), g.join("/a", "/b"), g.join("a/", "b")]
    yield "read a whole file", lambda: tf.io.read_file("a/y.bin")
    yield "read a whole folder", lambda: tf.io.read_file("a")
    yield "read a whole nothing", lambda: tf.io.read_file("zz")
    yield "read several", lambda: tf.io.read_file(["a/y.bin"])
    yield "read a number", lambda: tf.io.read_file(3)
    yield "write a whole file", lambda: [tf.io.write_file("new/dir/f", "hi"), tf.io.read_file("new/dir/f")]
    yield "write several", lambda: tf.io.write_file("f", ["a", "b"])
    yield "remove a tree", lambda: [g.rmtree("a"), g.exists("a")]


def _records(tf: Any) -> Cases:
    writer, read = tf.io.TFRecordWriter, tf.compat.v1.io.tf_record_iterator

    def wrote(name: str, records: list[Any], *options: Any) -> bytes:
        with writer(name, *options) as out:
            for record in records:
                out.write(record)
        return Path(name).read_bytes()

    def damaged(change: Callable[[bytes], bytes]) -> list[Any]:
        Path("d").write_bytes(change(Path("x").read_bytes()))
        found: list[Any] = []
        try:
            for record in read("d"):
                found.append(record)
        except tf.errors.OpError as error:
            found.append([type(error).__name__, error.message])
        return found

    yield "records", lambda: wrote("x", [b"abc", "ü", b"", bytearray(b"\0" * 300)])
    yield "no records", lambda: wrote("none", [])
    yield "records read", lambda: list(read("x"))
    for name in ("GZIP", "ZLIB"):
        yield f"records of {name}", lambda name=name: [len(wrote(name, [b"abc"], name)) > 0, list(read(name, name))]
        options = tf.io.TFRecordOptions(compression_type=name, compression_level=1)
        yield (
            f"options of {name}",
            lambda name=name, options=options: [
                len(wrote(name, [b"abc"], options)) > 0,
                list(read(name, options)),
            ],
        )
    yield "wrong compression", lambda: list(read("x", "GZIP"))
    yield "no compression named", lambda: list(read("GZIP"))
    yield "no such compression", lambda: writer("y", "BZ2")
    yield "no such folder", lambda: writer("nodir/x")
    yield "no path", lambda: writer(3)
    yield "read no file", lambda: list(read("miss"))
    yield "write a number", lambda: wrote("y", [3])
    yield "write when closed", lambda: [writer("y").close(), (out := writer("y")).close(), out.write(b"a")]
    yield "close twice", lambda: [(out := writer("y")).close(), out.close()]
    yield "cut", lambda: damaged(lambda data: data[:-1])
    yield "cut in a length", lambda: damaged(lambda data: data[:25])
    yield "another byte", lambda: damaged(lambda data: data[:13] + b"X" + data[14:])
    yield "another length", lambda: damaged(lambda data: b"\7" + data[1:])
    yield "a few bytes more", lambda: damaged(lambda data: data + b"abc")


def cases(tf: Any) -> Cases:
    """Yield names and calls."""
    yield from _files(tf)
    yield from _moves(tf)
    yield from _records(tf)
