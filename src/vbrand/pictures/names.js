"use strict";
// names that a person types for groups -> commands, and a file for `vbrand name`

class Naming {
  constructor(report) {
    this.report = report;
    this.form = document.getElementById("naming");
    if (!this.form) return;
    this.cards = [...this.form.querySelectorAll(".naming")];
    this.cards.forEach((card, i) => {
      const { group, middle, border } = report.naming[i];
      const note = card.querySelector(".note");
      if (middle.length) this.list(note, "In its middle: ", middle);
      if (border.length) this.list(note, " On its border: ", border);
      if (!middle.length) note.textContent = "No row of this batch is in it.";
      card.querySelector("input").setAttribute("aria-label", `${report.groups[group].bare} is`);
      card.querySelector("input").addEventListener("input", () => this.show());
    });
    document.getElementById("named-save").addEventListener("click", () => {
      download(new Blob([`${JSON.stringify(this.held, null, 2)}\n`], { type: "application/json" }), "names.json");
    });
    this.show();
  }

  // rows by their ids: a click shows one on the map
  list(note, words, rows) {
    note.append(words);
    rows.forEach((row, i) => {
      const button = make("button", { type: "button", class: "plain", title: "Show it on the map" }, note, clip(this.report.rows.name[row], 60));
      button.addEventListener("click", () => chooseRow(row));
      note.append(i + 1 < rows.length ? ", " : ".");
    });
  }

  // what was typed; a name that a class or another group has already means that the group is part of it
  get typed() {
    const taken = new Set(this.report.classes.slice(0, -1));
    return this.cards.flatMap((card, i) => {
      const name = card.querySelector("input").value.trim();
      if (!name) return [];
      const joins = taken.has(name);
      taken.add(name);
      return [{ group: this.report.groups[this.report.naming[i].group].bare, name, joins }];
    });
  }

  get held() { return Object.fromEntries(this.typed.map(({ group, name, joins }) => [group, joins ? { join: name } : name])); }

  show() {
    const lines = this.typed.map(({ group, name, joins }) => {
      const end = name.startsWith("-") ? "-- " : "";
      return `vbrand name ${joins ? "--join " : ""}${end}model.vbrand ${quoted(group)} ${quoted(name)}`;
    });
    document.getElementById("named").hidden = lines.length === 0;
    document.getElementById("named-commands").textContent = lines.join("\n");
  }
}

// a word as a shell takes it, whatever is in it
function quoted(word) {
  return /^[\p{L}\p{N} _.,:/+-]+$/u.test(word) ? `"${word}"` : `'${word.replaceAll("'", "'\\''")}'`;
}
