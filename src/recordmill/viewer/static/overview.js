// The overview of a dataset: schema, statistics, shards and damage.

import { poll } from "./api.js";
import { createBarChart, createHistogram } from "./charts.js";
import { element, progress, table } from "./dom.js";
import { formatBytes, formatCount, formatNoun, formatNumber, formatShape } from "./format.js";
import { showVerification } from "./verification.js";

const POLL_MS = 500;
// A feature with more distinct values gets a histogram instead of one bar per value.
const MAX_COUNTED = 20;

/** Show the overview in the container; requests end when the signal is aborted. */
export async function showOverview(container, dataset, signal) {
  const statistics = element("div", {});
  const verification = element("section", {});
  container.replaceChildren(createSummary(dataset), verification, statistics);
  await Promise.all([showVerification(verification, dataset, signal), showStatistics(statistics, dataset, signal)]);
}

function createSummary(dataset) {
  const facts = [
    ["Records", formatCount(dataset.num_records)],
    ["Size", formatBytes(dataset.num_bytes)],
    ["Format", dataset.format],
    ["Payload", dataset.payload],
    ["Classes", dataset.classes === null ? "unnamed" : formatCount(dataset.classes.length)],
  ];
  const pairs = facts.map(([term, text]) => element("div", {}, element("dt", {}, term), element("dd", {}, text)));
  return element("dl", { class: "facts" }, pairs);
}

async function showStatistics(container, dataset, signal) {
  const bar = progress("Reading records", null);
  container.replaceChildren(bar.node);
  const job = await poll("api/overview", bar.update, { signal, interval: POLL_MS });
  if (job.state !== "done") {
    container.replaceChildren(createError(job, "The overview was cancelled."));
    return;
  }
  container.replaceChildren(
    element("p", {}, describeBasis(job, dataset.num_records)),
    createSchema(dataset, job.result.features),
    ...createCharts(job.result, dataset.label_feature),
    createShards(job.result),
  );
}

/** Return which records the numbers are based on. */
function describeBasis({ sampled, num_read: numRead, result }, numRecords) {
  const { num_damaged: numDamaged, num_too_large: numTooLarge } = result;
  const sentences = [
    sampled
      ? `Estimates from a sample of ${formatCount(numRead)} of ${formatNoun(numRecords, "record")}.`
      : `Exact: all ${formatNoun(numRead, "record")} were read.`,
    numDamaged > 0 && `${formatNoun(numDamaged, "record")} could not be read.`,
    numTooLarge > 0 && `${formatNoun(numTooLarge, "record")} omitted because of their size.`,
  ];
  return sentences.filter(Boolean).join(" ");
}

function createError(job, cancelled) {
  return element("p", { class: "error", role: "alert" }, job.error?.message ?? cancelled);
}

function createSchema(dataset, features) {
  const byName = new Map(features.map((feature) => [feature.name, feature]));
  const names = new Set([...Object.keys(dataset.schema), ...byName.keys()]);
  const rows = [...names].map((name) => {
    const schema = dataset.schema[name];
    const feature = byName.get(name);
    const missing = feature?.num_missing ?? 0;
    return [
      element("span", { class: "name" }, name),
      feature?.kinds.join(", ") || schema?.kind || "–",
      schema ? formatShape(schema.shape) : "–",
      formatNumber(feature?.num_values),
      element("span", { class: missing > 0 ? "warning" : null }, formatNumber(missing)),
      formatNumber(feature?.minimum),
      formatNumber(feature?.maximum),
      formatNumber(feature?.mean),
      formatRange(feature?.num_bytes),
    ];
  });
  const headers = ["Feature", "Kind", "Shape", "Values", "Missing", "Minimum", "Maximum", "Mean", "Bytes"];
  return element("section", {}, element("h2", {}, "Features"), table("Features", headers, rows, [3, 4, 5, 6, 7, 8]));
}

/** Format the minimum and maximum number of bytes of a value. */
function formatRange(range) {
  if (!range) {
    return "–";
  }
  const [least, greatest] = range.map(formatCount);
  return least === greatest ? least : `${least} – ${greatest}`;
}

function createCharts(result, labelFeature) {
  const isCounted = ({ name, value_counts: values, histogram }) => {
    const isShort = name === labelFeature || values?.length <= MAX_COUNTED;
    return values?.length > 0 && (isShort || (histogram === null && values.some(({ count }) => count > 1)));
  };
  const counts = result.features.filter(isCounted).map(createCounts);
  const images = result.features.filter((feature) => feature.images !== null).map(createImageCharts);
  const histograms = result.features
    .filter((feature) => feature.histogram !== null && !isCounted(feature))
    .map(({ name, histogram, kinds }) =>
      createHistogram(name, histogram, { isInteger: kinds.every((kind) => /int/.test(kind)) }),
    );
  if (result.record_bytes !== null) {
    histograms.push(createHistogram("Bytes per record", result.record_bytes, { format: formatBytes, isInteger: true }));
  }
  return [
    counts.length > 0 && createSection("Values", counts),
    ...images,
    histograms.length > 0 && createSection("Distributions", histograms),
  ].filter(Boolean);
}

function createSection(title, charts) {
  return element("section", {}, element("h2", {}, title), element("div", { class: "charts" }, charts));
}

function createCounts({ name, value_counts: values }) {
  const bars = values.map(({ value, count, class: label }) => ({
    name: label === null || label === undefined ? String(value) : `${label} (${value})`,
    count,
  }));
  return createBarChart(`Records per ${name}`, bars);
}

function createImageCharts({ name, images }) {
  const formats = Object.entries(images.formats).map(([format, count]) => ({ name: format, count }));
  const pixels = { format: (size) => `${formatCount(size)} px`, isInteger: true };
  const section = createSection(`Images in ${name}`, [
    images.widths && createHistogram("Width", images.widths, pixels),
    images.heights && createHistogram("Height", images.heights, pixels),
    createBarChart("Format", formats),
  ]);
  if (images.num_unreadable > 0) {
    const text = `${formatNoun(images.num_unreadable, "image")} with an unreadable header.`;
    section.append(element("p", { class: "warning" }, text));
  }
  return section;
}

function createShards({ shards }) {
  const rows = shards.map((shard) => [shard.path, formatCount(shard.num_records), formatBytes(shard.num_bytes)]);
  const list = table("Shards", ["Path", "Records", "Size"], rows, [1, 2]);
  return element("section", {}, element("h2", {}, "Shards"), list);
}
