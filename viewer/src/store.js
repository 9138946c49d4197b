// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Frames that were fetched, those on their way and those still to ask for. Bounded in bytes: the longest unused goes first. What is wanted
// most is asked for first, and what nobody wants any more is called off.

const WORKERS = 2, AT_A_TIME = 4;

export class FrameStore {
  constructor(mostBytes) {
    this.mostBytes = mostBytes;
    this.bytes = 0;
    this.kept = new Map();     // key -> {result, bytes}; in the order of use
    this.pending = new Map();  // key -> {id, worker, promise}
    this.failed = new Map();   // key -> error; asked for again only when the version changes
    this.wanted = [];
    this.waiting = new Map();  // id -> {key, resolve}
    this.lastId = 0;
    this.onarrival = () => {};
    this.workers = Array.from({ length: WORKERS }, () => {
      const worker = new Worker("/decode.js");
      worker.onmessage = ({ data }) => this.#arrived(data);
      return worker;
    });
  }

  static pointsKey(frame, version, attribute, limit) {
    return `/api/points?frame=${frame}&attribute=${encodeURIComponent(attribute)}&limit=${limit}#${version}`;
  }
  static surfaceKey(frame, version) { return `/api/surface?frame=${frame}#${version}`; }

  static verticesKey(frame, version) { return `/api/vertices?frame=${frame}#${version}`; }

  has(key) { return this.kept.has(key); }
  error(key) { return this.failed.get(key); }

  get(key) {
    const entry = this.kept.get(key);
    if (!entry) return undefined;
    this.kept.delete(key);
    this.kept.set(key, entry);
    return entry.result;
  }

  // The keys that are of use now, the most urgent first. Others on their way are called off.
  want(keys) {
    this.wanted = keys;
    const useful = new Set(keys);
    for (const [key, { id, worker }] of this.pending) if (!useful.has(key)) worker.postMessage({ abort: id });
    this.#pump();
  }

  // One message outside the rows of frames, such as the solids.
  fetch(url) {
    return new Promise((resolve) => this.#send(url, (data) => resolve(data)));
  }

  clear() {
    this.kept.clear();
    this.failed.clear();
    this.bytes = 0;
    this.want([]);
  }

  #send(key, resolve) {
    const id = ++this.lastId, worker = this.workers[id % WORKERS];
    this.waiting.set(id, { key, resolve });
    worker.postMessage({ id, url: key.split("#")[0] });
    return { id, worker };
  }

  #pump() {
    for (const key of this.wanted) {
      if (this.pending.size >= AT_A_TIME) return;
      if (this.kept.has(key) || this.pending.has(key) || this.failed.has(key)) continue;
      this.pending.set(key, this.#send(key, (data) => this.#keep(key, data)));
    }
  }

  #arrived(data) {
    const { resolve } = this.waiting.get(data.id);
    this.waiting.delete(data.id);
    resolve(data);
  }

  #keep(key, data) {
    this.pending.delete(key);
    if (data.error) {
      if (data.error !== "aborted") {
        this.failed.set(key, data);
        // The server may come back: what it refused for good says so with a number.
        if (!data.status) setTimeout(() => { this.failed.delete(key); this.#pump(); }, 2000);
        this.onarrival(key);
      }
    } else {
      const bytes = [data.data, data.position, data.normal, data.index].reduce((sum, part) => sum + (part?.byteLength ?? 0), 256);
      this.kept.set(key, { result: data, bytes });
      this.bytes += bytes;
      this.#trim(key);
      this.onarrival(key);
    }
    this.#pump();
  }

  #trim(newest) {
    const useful = new Set(this.wanted);
    for (const pass of [0, 1])
      for (const [key, { bytes }] of this.kept) {
        if (this.bytes <= this.mostBytes) return;
        if (key === newest || (pass === 0 && useful.has(key))) continue;
        this.kept.delete(key);
        this.bytes -= bytes;
      }
  }
}
