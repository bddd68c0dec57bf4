// Requests to the viewer's server. All addresses are relative to the page, whose path contains the token.

const POLL_MS = 300;

/** A response with an error status: message, column in the filter expression, and hint. */
export class ApiError extends Error {
  constructor(status, { message, column = null, hint = null }) {
    super(message);
    Object.assign(this, { status, column, hint });
  }
}

/** Send a request and return the JSON of the response. */
export async function request(path, { method = "GET", body, signal } = {}) {
  const content = body && { headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  let response;
  try {
    response = await fetch(path, { method, signal, ...content });
  } catch (error) {
    if (error.name === "AbortError") {
      throw error;
    }
    const message = "The viewer does not answer. Start it again and open the address that it prints.";
    throw new ApiError(0, { message });
  }
  const answer = await response.json().catch(() => ({ error: { message: `The server answered ${response.status}.` } }));
  if (!response.ok) {
    throw new ApiError(response.status, answer.error);
  }
  return answer;
}

/** Wait; throws an AbortError as soon as the signal is aborted. */
export function sleep(ms, signal) {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}

/** Poll a job until it ends; calls `onState` with each response and returns the last one. */
export async function poll(path, onState, { signal, interval = POLL_MS } = {}) {
  for (;;) {
    const job = await request(path, { signal });
    onState(job);
    if (job.state !== "running") {
      return job;
    }
    await sleep(interval, signal);
  }
}

/** Return the records of a range of rows, at most 200. */
export async function fetchRecords(start, stop, viewId, signal) {
  const view = viewId === null ? "" : `&view=${encodeURIComponent(viewId)}`;
  return (await request(`api/records?start=${start}&stop=${stop}${view}`, { signal })).records;
}

/** Compute the view of a filter and a sort order; aborting the signal also cancels the computation on the server. */
export async function computeView(query, onProgress, signal) {
  const { id } = await request("api/views", { method: "POST", body: query, signal });
  const path = `api/views/${encodeURIComponent(id)}`;
  try {
    const job = await poll(path, onProgress, { signal });
    if (job.state !== "done") {
      throw new ApiError(0, job.error ?? { message: "The filter was cancelled." });
    }
    return { id, numRecords: job.num_records, numSkipped: job.num_skipped };
  } catch (error) {
    if (error.name === "AbortError") {
      request(path, { method: "DELETE" }).catch(() => {});
    }
    throw error;
  }
}
