"""Write samples to tar files in the layout of WebDataset: ``key.jpg``, ``key.cls`` and ``key.json``."""

from __future__ import annotations

import tarfile

from recordmill.conversion.export.folder import write_class_names
from recordmill.conversion.export.named_files import FileNames
from recordmill.conversion.export.names import decode_key, split_suffix
from recordmill.conversion.export.output import FolderFile
from recordmill.conversion.export.samples import Sample
from recordmill.conversion.export.values import serialize_json, to_json
from recordmill.conversion.export.writers import ExportOptions, create_folder, find_suffix, get_image, get_labels

_END = bytes(2 * tarfile.BLOCKSIZE)


class WebDatasetWriter:
    """Writes an export with ``to="webdataset"``. Equal samples give equal files: headers have no time, user or group.

    Parameters
    ----------
    options : ExportOptions
    """

    def __init__(self, options: ExportOptions) -> None:
        self._image, self._label, self._key = options.image, options.label, options.key
        self._classes, self._result, self._max_bytes = options.classes, options.result, options.max_shard_bytes
        self._folder = create_folder(options)
        self._file: FolderFile | None = None
        self._num_shards = self._num_bytes = 0
        try:
            self._names = FileNames(options.result)
        except BaseException:
            self._folder.discard()
            raise

    def write(self, sample: Sample) -> None:
        """Append the files of one sample to the current tar shard, or to a new shard if the current one is full."""
        members: dict[str, bytes] = {}
        others = dict(sample.values)
        if self._image is not None:
            data = get_image(sample, self._image)
            members[find_suffix(data)] = data
            del others[self._image]
        if self._label is not None:
            labels = get_labels(sample, self._label)
            if len(labels) == 1 and isinstance(labels[0], int):
                members[".cls"] = str(labels[0]).encode()
                del others[self._label]
        if others or not members:
            members[".json"] = serialize_json(to_json(others))
        key = self._choose_key(sample)
        tar = b"".join([part for suffix, data in members.items() for part in _build_member(key + suffix, data)])
        if self._file is None or self._num_bytes + len(tar) > self._max_bytes:
            self._finish_shard()
            self._file = FolderFile(self._folder, f"{self._num_shards:06}.tar")
        self._file.write(tar)
        self._num_bytes += len(tar)

    def _choose_key(self, sample: Sample) -> str:
        if self._key is None:
            return f"{sample.position:08}"
        text, problem = decode_key(sample.values.get(self._key, ""))
        key = text if problem else split_suffix(text)[0]
        return self._names.choose("", key, problem, "", sample.position, join="_")

    def _finish_shard(self) -> None:
        if self._file is not None:
            self._file.write(_END)
            self._file.finish()
            self._file = None
            self._num_shards, self._num_bytes = self._num_shards + 1, 0

    def commit(self) -> None:
        """Complete the last shard, write the class names, and give all files their final names."""
        self._finish_shard()
        write_class_names(self._folder, self._classes)
        self._names.close()
        self._folder.commit()
        self._result.num_files, self._result.num_bytes = self._folder.num_files, self._folder.num_bytes

    def discard(self) -> None:
        """Remove everything that was written."""
        if self._file is not None:
            self._file.discard()
        self._names.close()
        self._folder.discard()


def _build_member(name: str, data: bytes) -> tuple[bytes, bytes, bytes]:
    """Return the tar header of a file, its data, and the padding to the next tar block."""
    header = tarfile.TarInfo(name)
    header.size, header.mode = len(data), 0o644
    block = header.tobuf(tarfile.PAX_FORMAT, "utf-8", "surrogateescape")
    return block, data, bytes(-len(data) % tarfile.BLOCKSIZE)
