// The verification of all records: progress, and the damage that was found.

import { poll, request } from "./api.js";
import { element, progress, table } from "./dom.js";
import { formatBytes, formatCount, formatNoun, formatNumber } from "./format.js";
import { recordHash } from "./location.js";

const POLL_MS = 500;
// Datasets up to this size are verified automatically.
const MAX_UNASKED_BYTES = 1e9;
const MAX_FAULTS = 200;
const NO_QUERY = { where: "", sort: null, descending: false };

/** Show the damage that was found; a small dataset is verified at once, a large one on request. */
export async function showVerification(container, dataset, signal) {
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
  const found = numFaults > 0 ? formatNoun(numFaults, "fault") : "no damage";
  const text = {
    idle: "Not verified yet.",
    done: `${formatNoun(job.done, "record")}${size} verified: ${found}.`,
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
    const text = `${formatCount(numFaults - rows.length)} more; run recordmill verify for all.`;
    list.append(element("p", { class: "quiet" }, text));
  }
  return list;
}
