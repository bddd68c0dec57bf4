// The samples that a pipeline produces from a record in several epochs.

import { request } from "./api.js";
import { element } from "./dom.js";
import { createFigure } from "./figure.js";

const DEFAULT_EPOCHS = 3;
const MAX_EPOCHS = 8;
let epochs = DEFAULT_EPOCHS;

/** Add the pipeline, a field for the number of epochs, and the samples of a record to the container. */
export function showPreview(container, pipeline, position, original, signal) {
  const samples = element("div", { class: "samples" });
  const limits = { min: 1, max: MAX_EPOCHS, required: true };
  const field = element("input", { type: "number", id: "epochs", value: epochs, ...limits });
  field.addEventListener("change", () => {
    if (field.checkValidity()) {
      epochs = Number(field.value);
      load();
    }
  });
  let controller = null;
  async function load() {
    controller?.abort();
    controller = new AbortController();
    signal.addEventListener("abort", () => controller.abort());
    samples.setAttribute("aria-busy", "true");
    try {
      const answer = await request(`api/preview/${position}?epochs=${epochs}`, { signal: controller.signal });
      samples.replaceChildren(original, ...answer.samples.map(createSample));
    } catch (error) {
      if (error.name !== "AbortError") {
        samples.replaceChildren(element("p", { class: "error", role: "alert" }, error.message));
      }
    } finally {
      samples.removeAttribute("aria-busy");
    }
  }
  container.append(
    element(
      "section",
      { class: "preview", "aria-label": "Pipeline preview" },
      element("h2", {}, "Pipeline preview"),
      element("pre", { class: "pipeline" }, pipeline),
      element("p", {}, element("label", { for: "epochs" }, "Epochs "), field),
      samples,
    ),
  );
  return load();
}

function createSample({ epoch, images, values, error }) {
  return element(
    "div",
    { class: "sample" },
    element("h3", {}, `Epoch ${epoch}`),
    error !== null && element("p", { class: "error" }, error),
    images.map((image) => createImage(image, epoch)),
    values.map(({ name, text }) => element("div", {}, element("span", { class: "quiet" }, `${name} `), text)),
  );
}

function createImage({ feature, url, width, height, mask, boxes, labels }, epoch) {
  const overlays = [
    ...(mask === null ? [] : [{ name: "mask", url: mask, boxes: null, labels: null }]),
    ...(boxes === null ? [] : [{ name: "boxes", url: null, boxes, labels }]),
  ];
  return createFigure({ url, width, height, fallback: null, alt: `${feature} in epoch ${epoch}` }, overlays);
}
