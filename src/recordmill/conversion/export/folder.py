"""Write images to class folders or to one folder, together with a list of labels that `pack` can read."""

from __future__ import annotations

from recordmill.conversion.export.named_files import LABEL_LINES, LABEL_LIST, FileNames
from recordmill.conversion.export.names import decode_key, split_suffix
from recordmill.conversion.export.output import FolderFile, OutputFolder
from recordmill.conversion.export.samples import Sample
from recordmill.conversion.export.values import serialize_json
from recordmill.conversion.export.writers import (
    ExportOptions,
    create_folder,
    find_class,
    find_suffix,
    get_image,
    get_labels,
)
from recordmill.errors import FeatureError
from recordmill.shards.class_names import LABELS_FILE, format_labels


class FolderWriter:
    """Writes an export with ``to="folder"``: image files, and a list of their labels.

    It writes the images, ``labels.txt`` with the class names, and ``labels.jsonl`` with the label of each image. Images
    with several labels are listed in ``labels.lst`` instead.

    Parameters
    ----------
    options : ExportOptions
    """

    def __init__(self, options: ExportOptions) -> None:
        if options.image is None:
            raise FeatureError(
                "no feature was recognized as the image",
                kind="feature_mismatch",
                expected="one feature of byte strings",
                found=", ".join(options.schema or ()),
                hint="pass the name of the image with image_feature=...",
            )
        self._image, self._label, self._key = options.image, options.label, options.key
        self._classes, self._result = options.classes, options.result
        self._folder = create_folder(options)
        self._lines = FolderFile(self._folder, LABEL_LINES)
        self._list = FolderFile(self._folder, LABEL_LIST)
        try:
            self._names = FileNames(options.result)
            self._class_folders = (
                self._names.choose_class_folders(options.classes or []) if options.class_folders else None
            )
        except BaseException:
            self._folder.discard()
            raise

    def write(self, sample: Sample) -> None:
        """Write the image, and add its label to the list."""
        data, labels = get_image(sample, self._image), get_labels(sample, self._label)
        folder = ""
        if self._class_folders is not None:
            folder = self._class_folders[find_class(sample, labels, self._class_folders)]
        name = self._choose_name(sample, folder, data)
        self._folder.write_file(name, data)
        if len(labels) == 1:
            self._lines.write(serialize_json({name: labels[0]}) + b"\n")
        elif labels:
            self._list.write("\t".join([str(sample.position), *map(repr, labels), name]).encode() + b"\n")

    def _choose_name(self, sample: Sample, folder: str, data: bytes) -> str:
        key = "" if self._key is None else sample.values.get(self._key, "")
        suffix = find_suffix(data)
        if self._key is None:  # Positions are unique, so these file names need no check for duplicates.
            return f"{folder}/{sample.position:08}{suffix}" if folder else f"{sample.position:08}{suffix}"
        text, problem = decode_key(key)
        return self._names.choose(folder, text, problem, split_suffix(text)[1].lower() or suffix, sample.position)

    def commit(self) -> None:
        """Write the class names, and give all files their final names."""
        for file in (self._lines, self._list):
            file.finish()
        write_class_names(self._folder, self._classes)
        self._names.close()
        self._folder.commit()
        self._result.num_files, self._result.num_bytes = self._folder.num_files, self._folder.num_bytes

    def discard(self) -> None:
        """Remove everything that was written."""
        for file in (self._lines, self._list):
            file.discard()
        self._names.close()
        self._folder.discard()


def write_class_names(folder: OutputFolder, classes: list[str] | None) -> None:
    """Write ``labels.txt``. Omit the file if there are no class names, or if the names could not be read back."""
    data = format_labels(classes) if classes else None
    if data is not None:
        folder.write_file(LABELS_FILE, data)


def labels_path_beside(path: str) -> str:
    """Return the path of the file with the class names of an export: ``train.jsonl.labels.txt`` for ``train.jsonl``."""
    return f"{path}.{LABELS_FILE}"
