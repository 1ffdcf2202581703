// The details of a table row: a dialog with its own address, which Back closes, and buttons to the previous and next row.

class Detail {
  // `key` is its parameter of the address. `source` gives title(row) and content(row) of a row, value(row) for the address
  // and row(value) from it, and table(), which defines the order.
  constructor(key, noun, source) {
    Object.assign(this, { key, noun, source });
    this.dialog = element("dialog", { class: "detail", "aria-labelledby": `${key}-title`, onkeydown: (event) => {
      const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (by && !event.target.matches("input, select, .scroll")) this.go(by);
    }, onclose: () => this.closed() });
    document.body.append(this.dialog);
  }

  // Show what the address says; called at first and whenever it changes.
  follow() {
    const value = parameters().get(this.key);
    const row = value === null ? undefined : this.source.row(value);
    if (row === undefined) this.dialog.close();
    else if (!this.dialog.open || row !== this.row) this.show(row);
  }

  closed() {
    if (!parameters().has(this.key)) return;
    if (history.state?.step) history.back();
    else setAddress({ [this.key]: null });
  }

  // The row at this offset in the table, if there is one.
  neighbour(by) {
    const { order } = this.source.table();
    const at = order.indexOf(this.row);
    return at < 0 ? undefined : order[at + by];
  }

  // Keep the focus on the button, so that the next key works too.
  go(by) {
    const row = this.neighbour(by);
    if (row === undefined) return;
    this.open(row);
    (this.dialog.querySelector(`[data-by="${by}"]:not(:disabled)`) ?? this.dialog.querySelector(".close")).focus();
  }

  open(row) {
    setAddress({ [this.key]: this.source.value(row) }, !this.dialog.open);
    this.show(row);
  }

  show(row) {
    this.row = row;
    this.fill();
    if (!this.dialog.open) this.dialog.showModal();
    this.dialog.scrollTop = 0;
  }

  fill() {
    const { row } = this;
    const close = element("button", { type: "button", class: "close", onclick: () => this.dialog.close() }, "Close");
    this.dialog.replaceChildren(
      element("div", { class: "bar top" },
        element("h2", { id: `${this.key}-title` }, this.source.title(row)),
        element("div", { class: "tools" }, this.stepButton("‹", "Previous", -1), this.stepButton("›", "Next", 1), close)),
      ...this.source.content(row));
  }

  stepButton(text, direction, by) {
    return element("button", {
      type: "button", "aria-label": `${direction} ${this.noun}`, "data-by": by, disabled: this.neighbour(by) === undefined, onclick: () => this.go(by),
    }, text);
  }
}
