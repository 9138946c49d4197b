// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The complete scene as text with line numbers; keys, values and comments told apart; a search that jumps from place to place.

const PARTS = /^(\s*(?:- )*)([\w-]+)(:)(.*)$/;

function span(name, text) {
  const part = document.createElement("span");
  part.className = name;
  part.textContent = text;
  return part;
}

function splitComment(text) {
  const at = text.search(/(^|\s)#/);
  if (at < 0) return [text, ""];
  const body = text.slice(0, at).trimEnd();  // the file lines comments up far to the right, which a narrow pane would not show
  return [body || text.slice(0, at), (body ? "  " : "") + text.slice(at).trimStart()];
}

export class ScenePane {
  constructor({ list, search, status }) {
    Object.assign(this, { list, search, status });
    this.found = [];
    this.at = -1;
    search.addEventListener("input", () => this.#find());
    search.addEventListener("keydown", (event) => {
      if (event.key === "Enter") this.#go(event.shiftKey ? -1 : 1);
      if (event.key === "Escape") { search.value = ""; this.#find(); search.blur(); }
    });
  }

  set(text) {
    this.text = text;
    const lines = text.replace(/\n$/, "").split("\n");
    this.list.replaceChildren(...lines.map((line) => {
      const row = document.createElement("li"), [body, comment] = splitComment(line), match = PARTS.exec(body);
      if (match) row.append(match[1], span("key", match[2]), match[3], span("value", match[4]));
      else row.append(span("value", body));
      if (comment) row.append(span("comment", comment));
      if (!line) row.append("\u200b");
      return row;
    }));
    this.#find();
  }

  #find() {
    const word = this.search.value.trim().toLowerCase();
    for (const row of this.found) row.classList.remove("found", "current");
    this.found = word ? [...this.list.children].filter((row) => row.textContent.toLowerCase().includes(word)) : [];
    for (const row of this.found) row.classList.add("found");
    this.at = -1;
    if (this.found.length) this.#go(1);
    else this.status.textContent = word ? "not found" : "";
  }

  #go(by) {
    if (!this.found.length) return;
    this.found[this.at]?.classList.remove("current");
    this.at = (this.at + by + this.found.length) % this.found.length;
    this.found[this.at].classList.add("current");
    this.found[this.at].scrollIntoView({ block: "center" });
    this.status.textContent = `${this.at + 1} of ${this.found.length}`;
  }
}
