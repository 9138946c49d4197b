// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// A worker that fetches messages of the server and unpacks them (src/view/wire.h describes the format). The page sends {id, url}, or
// {abort: id}; it gets {id, kind, facts, ...arrays} or {id, error, status}.

const running = new Map();  // id -> AbortController

self.onmessage = async ({ data }) => {
  if (data.abort !== undefined) {
    running.get(data.abort)?.abort();
    return;
  }
  const { id, url } = data;
  const controller = new AbortController();
  running.set(id, controller);
  try {
    const result = unpack(await fetchBytes(url, controller.signal));
    const buffers = Object.values(result).filter((part) => ArrayBuffer.isView(part)).map((part) => part.buffer);
    self.postMessage({ id, ...result }, [...new Set(buffers)]);
  } catch (error) {
    self.postMessage({ id, error: error.name === "AbortError" ? "aborted" : String(error.message ?? error), status: error.status ?? 0 });
  } finally {
    running.delete(id);
  }
};

async function fetchBytes(url, signal) {
  for (let attempt = 0; ; attempt++) {
    const answer = await fetch(url, { signal });
    if (answer.ok) return answer.arrayBuffer();
    if ((answer.status === 429 || answer.status === 503) && attempt < 5) {
      await new Promise((done) => setTimeout(done, 250 * 2 ** attempt));
      continue;
    }
    const words = await answer.json().catch(() => ({ error: answer.statusText }));
    throw Object.assign(new Error(words.error), { status: answer.status });
  }
}

function unpack(buffer) {
  const head = new DataView(buffer);
  const kind = String.fromCharCode(...new Uint8Array(buffer, 0, 4));
  const length = head.getUint32(4, true);
  const facts = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, length)));
  const start = 8 + length;
  if (kind === "RHP1") return { kind, facts, data: unpackPoints(buffer, start, facts) };
  if (kind === "RHM1") return { kind, facts, ...unpackSurface(buffer, start, facts) };
  if (kind === "RHS1" || kind === "RHV1") return { kind, facts, data: new Uint8Array(buffer.slice(start)) };
  throw new Error("a message of an unknown kind");
}

// One row of 16-bit numbers, put into every `stride`-th place of `to`.
function unpackRow16(buffer, start, count, to, offset, stride) {
  const low = new Uint8Array(buffer, start, count), high = new Uint8Array(buffer, start + count, count);
  let value = 0;
  for (let i = 0, at = offset; i < count; i++, at += stride) {
    const folded = low[i] | (high[i] << 8);
    value = (value + ((folded >>> 1) ^ -(folded & 1))) & 0xffff;
    to[at] = value;
  }
}

function unpackRow32(buffer, start, count) {
  const bytes = new Uint8Array(buffer, start, 4 * count), to = new Uint32Array(count);
  let value = 0;
  for (let i = 0; i < count; i++) {
    const folded = (bytes[i] | (bytes[count + i] << 8) | (bytes[2 * count + i] << 16) | (bytes[3 * count + i] << 24)) >>> 0;
    value = (value + ((folded >>> 1) ^ -(folded & 1))) >>> 0;
    to[i] = value;
  }
  return to;
}

// x, y, z, value of each particle side by side, as the graphics card takes them.
function unpackPoints(buffer, start, { count }) {
  const data = new Uint16Array(4 * count);
  for (let row = 0; row < 4; row++) unpackRow16(buffer, start + 2 * count * row, count, data, row, 4);
  return data;
}

function unpackSurface(buffer, start, { vertices, triangles, box }) {
  const codes = new Uint16Array(vertices), position = new Float32Array(3 * vertices);
  for (let axis = 0; axis < 3; axis++) {
    unpackRow16(buffer, start + 2 * vertices * axis, vertices, codes, 0, 1);
    const low = box[axis], step = (box[axis + 3] - low) / 65535;
    for (let i = 0, at = axis; i < vertices; i++, at += 3) position[at] = low + step * codes[i];
  }
  start += 6 * vertices;
  const rows = new Int8Array(buffer, start, 3 * vertices), normal = new Int8Array(4 * vertices);
  for (let i = 0; i < vertices; i++) for (let axis = 0; axis < 3; axis++) normal[4 * i + axis] = rows[axis * vertices + i];
  return { position, normal, index: unpackRow32(buffer, start + 3 * vertices, 3 * triangles) };
}
