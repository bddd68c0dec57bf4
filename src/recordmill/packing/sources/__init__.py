"""Where packed records come from: folders, label files, lists, tables, image and mask pairs."""

from recordmill.packing.sources.base import Item, Items, Source
from recordmill.packing.sources.guess import find_source
from recordmill.packing.sources.image_folder import ImageFolder
from recordmill.packing.sources.image_pairs import ImagePairs
from recordmill.packing.sources.label_file import LabelFile
from recordmill.packing.sources.list_file import ListFile
from recordmill.packing.sources.table import Table

__all__ = ["ImageFolder", "ImagePairs", "Item", "Items", "LabelFile", "ListFile", "Source", "Table", "find_source"]
