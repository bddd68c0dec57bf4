// An image with masks and boxes drawn on it.

import { element, svg } from "./dom.js";

// Small images are enlarged by a whole factor up to this width or height in pixels.
const ENLARGED_PIXELS = 256;
// Greatest height of an image, in percent of the window.
const MAX_HEIGHT_VH = 75;

/**
 * Create an image with overlays, and a checkbox for each overlay.
 *
 * @param {{url: string, fallback: ?string, width: number, height: number, alt: string}} image - Size in pixels from the
 *   header; 0 if unknown.
 * @param {Array<{name: string, url: ?string, boxes: ?number[][], labels: ?string[]}>} overlays - URL of a transparent
 *   image, or boxes as fractions of width and height.
 */
export function createFigure(image, overlays) {
  const layers = overlays.map((overlay) => (overlay.boxes === null ? createMask(overlay) : createBoxes(overlay)));
  const stage = element("div", { class: "stage" }, createImage(image, overlays.length > 0), layers);
  const factor = Math.floor(ENLARGED_PIXELS / Math.max(image.width, image.height, 1));
  if (image.width > 0 && image.height > 0) {
    stage.style.width = `${image.width * Math.max(1, factor)}px`;
    stage.style.maxWidth = `min(100%, ${(MAX_HEIGHT_VH * image.width) / image.height}vh)`;
    stage.style.aspectRatio = `${image.width} / ${image.height}`;
    stage.classList.toggle("enlarged", factor > 1);
  }
  const choices = overlays.map((overlay, i) => createChoice(overlay.name, layers[i]));
  const options = choices.length > 0 && element("div", { class: "choices" }, choices);
  return element("div", { class: "figure" }, stage, options);
}

function createImage({ url, fallback, alt }, hasOverlays) {
  const image = element("img", { src: url, alt, class: hasOverlays ? "unrotated" : null });
  let next = fallback;
  image.addEventListener("error", () => {
    if (next) {
      image.src = next;
      next = null;
    } else {
      image.replaceWith(element("span", { class: "error" }, "Image cannot be decoded"));
    }
  });
  return image;
}

function createMask({ name, url }) {
  return element("img", { class: "overlay mask", src: url, alt: `Mask ${name}` });
}

function createBoxes({ boxes, labels }) {
  const drawing = svg("svg", { viewBox: "0 0 1 1", preserveAspectRatio: "none", "aria-hidden": "true" });
  const texts = boxes.map(([left, top, right, bottom], i) => {
    const size = { x: left, y: top, width: Math.max(0, right - left), height: Math.max(0, bottom - top) };
    drawing.append(svg("rect", { ...size, class: `box color-${i % 6}` }));
    if (!labels?.[i]) {
      return null;
    }
    const text = element("span", { class: `box-label color-${i % 6}` }, labels[i]);
    text.style.left = `${left * 100}%`;
    text.style.top = `${top * 100}%`;
    return text;
  });
  return element("div", { class: "overlay boxes" }, drawing, texts);
}

function createChoice(name, layer) {
  const box = element("input", { type: "checkbox", checked: true, onchange: () => (layer.hidden = !box.checked) });
  return element("label", { class: "check" }, box, ` ${name}`);
}
