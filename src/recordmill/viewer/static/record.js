// The page of one record: its images with masks and boxes, all features, and its location in the shards.

import { request } from "./api.js";
import { element, fill, table } from "./dom.js";
import { createFigure } from "./figure.js";
import { formatBytes, formatCount, formatLabel, formatShape } from "./format.js";

const LONG_TEXT = 300;

/** Load a record, show it in the container, and return it. */
export async function showRecord(container, position, signal) {
  const record = await request(`api/record/${position}`, { signal });
  signal.throwIfAborted();
  const label = formatLabel(record);
  container.replaceChildren();
  fill(container, [
    element(
      "p",
      { class: "names" },
      label && element("strong", {}, label),
      record.key !== null && element("span", { class: "quiet" }, record.key),
    ),
    record.error !== null && element("p", { class: "error", role: "alert" }, record.error),
    createImages(record),
    createFeatures(record.features),
    createOrigin(record),
  ]);
  return record;
}

/** Create the original image with its overlays, to show it before the samples of the preview. */
export function createOriginal(record) {
  const image = findMainImage(record);
  return element(
    "div",
    { class: "sample" },
    element("h3", {}, "Original"),
    image
      ? createFigure({ ...image, fallback: image.thumbnail, alt: "Original image" }, record.overlays)
      : element("p", { class: "quiet" }, "No image"),
  );
}

/** Return the features whose images are shown. Masks are only shown if there are no other images. */
function listShownFeatures({ features, overlays }) {
  const masks = new Set(overlays.filter(({ kind }) => kind === "mask").map(({ name }) => name));
  const withImages = features.filter(({ images }) => images.length > 0);
  const shown = withImages.filter(({ name }) => !masks.has(name));
  return shown.length > 0 ? shown : withImages;
}

function findMainImage(record) {
  return listShownFeatures(record)[0]?.images[0];
}

function createImages(record) {
  const main = findMainImage(record);
  const figures = listShownFeatures(record).flatMap(({ name, images }) =>
    images.map((image, number) => {
      const title = images.length > 1 ? `${name} ${number}` : name;
      const size = image.width > 0 ? `${image.width} × ${image.height}` : "size unknown";
      const overlays = image === main ? record.overlays : [];
      return element(
        "figure",
        {},
        createFigure({ ...image, fallback: image.thumbnail, alt: `Image ${title}` }, overlays),
        element(
          "figcaption",
          {},
          element("a", { href: image.url, target: "_blank", rel: "noopener" }, title),
          ` ${image.format.toUpperCase()}, ${size}, ${formatBytes(image.num_bytes)}`,
        ),
      );
    }),
  );
  return figures.length > 0 && element("div", { class: "figures" }, figures);
}

function createFeatures(features) {
  const rows = features.map((feature) => [
    element("span", { class: "name" }, feature.name),
    createText(feature),
    feature.kind,
    formatShape(feature.shape),
    formatBytes(feature.num_bytes),
    element("a", { href: feature.download, download: "", "aria-label": `Download ${feature.name}` }, "Download"),
  ]);
  const headers = ["Feature", "Value", "Kind", "Shape", "Size", "File"];
  return element("section", {}, element("h2", {}, "Features"), table("Features", headers, rows, [4]));
}

function createText({ text, truncated, download, images }) {
  const isShortened = truncated && images.length === 0;
  const link = element("a", { href: download, download: "" }, "Download all");
  const more = isShortened && element("p", {}, "Shortened. ", link);
  if (text.length <= LONG_TEXT && text.split("\n").length <= 4) {
    return element("div", {}, element("div", { class: "text" }, text), more);
  }
  const summary = element("summary", {}, element("span", { class: "text" }, `${text.slice(0, 120)} …`));
  return element("details", {}, summary, element("div", { class: "text" }, text), more);
}

function createOrigin(record) {
  const rows = [
    ["Shard", record.shard],
    ["Record in the shard", formatCount(record.record)],
    ["Offset in bytes", formatCount(record.offset)],
    ["Payload", formatBytes(record.num_bytes)],
    ["SHA-256 of the payload", record.sha256 ?? "–"],
    ["Index file", record.index ?? "none"],
  ];
  const terms = rows.map(([term, text]) => [element("dt", {}, term), element("dd", {}, text)]);
  return element("section", {}, element("h2", {}, "Location"), element("dl", {}, terms));
}
