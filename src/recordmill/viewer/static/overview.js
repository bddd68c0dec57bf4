// The overview of a dataset: schema, statistics, shards, and damage.

import { poll, request } from "./api.js";
import { createBarChart, createHistogram } from "./charts.js";
import { element, progress, table } from "./dom.js";
import { formatBytes, formatCount, formatNoun, formatNumber, formatShape } from "./format.js";
import { recordHash } from "./location.js";

const POLL_MS = 500;
// Datasets up to this size are verified without being asked to.
const MAX_UNASKED_BYTES = 1e9;
const MAX_FAULTS = 200;
// Features with more values have a histogram instead of a bar for each.
const MAX_COUNTED = 20;
const NO_QUERY = { where: "", sort: null, descending: false };

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
  return element("dl", { class: "facts" }, facts.map(([term, text]) => element("div", {}, element("dt", {}, term), element("dd", {}, text))));
}

async function showStatistics(container, dataset, signal) {
  const bar = progress("Reading records", null);
  container.replaceChildren(bar.node);
  const job = await poll("api/overview", bar.update, { signal, interval: POLL_MS });
  if (job.state !== "done") {
    container.replaceChildren(createError(job, "The overview was cancelled."));
    return;
  }
  const basis = job.sampled
    ? `Estimates from a sample of ${formatCount(job.num_read)} of ${formatNoun(dataset.num_records, "record")}.`
    : `Exact: all ${formatNoun(job.num_read, "record")} were read.`;
  const damaged = job.result.num_damaged ? ` ${formatNoun(job.result.num_damaged, "record")} could not be read.` : "";
  const omitted = job.result.num_too_large ? ` ${formatNoun(job.result.num_too_large, "record")} omitted because of their size.` : "";
  container.replaceChildren(
    element("p", { class: "basis" }, basis + damaged + omitted),
    createSchema(dataset, job.result.features),
    ...createCharts(job.result, dataset.label_feature),
    createShards(job.result),
  );
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

/** Format the least and the greatest number of bytes of a value. */
function formatRange(range) {
  if (!range) {
    return "–";
  }
  const [least, greatest] = range.map(formatCount);
  return least === greatest ? least : `${least} – ${greatest}`;
}

function createCharts(result, labelFeature) {
  const isCounted = ({ name, value_counts: values, histogram }) =>
    values?.length > 0 &&
    (name === labelFeature || values.length <= MAX_COUNTED || (histogram === null && values.some(({ count }) => count > 1)));
  const counts = result.features.filter(isCounted).map(createCounts);
  const images = result.features.filter((feature) => feature.images !== null).map(createImageCharts);
  const histograms = result.features
    .filter((feature) => feature.histogram !== null && !isCounted(feature))
    .map((feature) => createHistogram(feature.name, feature.histogram, { isInteger: feature.kinds.every((kind) => /int/.test(kind)) }));
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
    section.append(element("p", { class: "warning" }, `${formatNoun(images.num_unreadable, "image")} with an unreadable header.`));
  }
  return section;
}

function createShards({ shards }) {
  const rows = shards.map(({ path, num_records: records, num_bytes: bytes }) => [path, formatCount(records), formatBytes(bytes)]);
  return element("section", {}, element("h2", {}, "Shards"), table("Shards", ["Path", "Records", "Size"], rows, [1, 2]));
}

async function showVerification(container, dataset, signal) {
  const job = await request("api/verify", { signal });
  if (job.state === "idle" && dataset.num_bytes <= MAX_UNASKED_BYTES) {
    await startVerification(container, signal);
  } else if (job.state === "running") {
    await followVerification(container, signal);
  } else {
    showFaults(container, job, signal);
  }
}

async function startVerification(container, signal) {
  await request("api/verify", { method: "POST", signal });
  await followVerification(container, signal);
}

async function followVerification(container, signal) {
  const bar = progress("Verifying records", () => request("api/verify", { method: "DELETE" }));
  container.replaceChildren(element("h2", {}, "Damage"), bar.node);
  showFaults(container, await poll("api/verify", bar.update, { signal, interval: POLL_MS }), signal);
}

function showFaults(container, job, signal) {
  const { faults, num_faults: numFaults, state } = job;
  const size = job.num_bytes ? ` (${formatBytes(job.num_bytes)})` : "";
  const text = {
    idle: "Not verified yet.",
    done: `${formatNoun(job.done, "record")}${size} verified: ${numFaults ? formatNoun(numFaults, "fault") : "no damage"}.`,
    cancelled: `Cancelled after ${formatNoun(job.done, "record")}; ${formatNoun(numFaults, "fault")} so far.`,
    failed: job.error?.message ?? "Verification failed.",
  }[state];
  const start = element("button", { type: "button" }, "Verify all records");
  start.addEventListener("click", () => startVerification(container, signal).catch((error) => {
    if (error.name !== "AbortError") {
      container.append(element("p", { class: "error", role: "alert" }, error.message));
    }
  }));
  container.replaceChildren(
    element("h2", {}, "Damage"),
    element("p", { role: "status", class: numFaults > 0 || state === "failed" ? "warning" : null }, text),
    faults.length > 0 ? createFaults(faults, numFaults) : "",
    start,
  );
}

function createFaults(faults, numFaults) {
  const rows = faults.slice(0, MAX_FAULTS).map(({ shard, record, offset, message, position }) => [
    position === null
      ? formatNumber(record)
      : element("a", { href: recordHash(position, NO_QUERY, null) }, `Record ${formatCount(position)}`),
    message,
    shard,
    formatNumber(offset),
  ]);
  const list = table("Faults", ["Record", "Fault", "Shard", "Offset"], rows, [3]);
  if (numFaults > rows.length) {
    list.append(element("p", { class: "quiet" }, `${formatCount(numFaults - rows.length)} more; run recordmill verify for all.`));
  }
  return list;
}
