// The details of a table row: a dialog with its own URL, and buttons to the previous and next row.

class Detail {
  // `source` gives address(row), title(row) and content(row) of a row, and table(), which defines the order.
  constructor(key, noun, source) {
    Object.assign(this, { key, noun, source });
    this.dialog = element("dialog", { class: "detail", "aria-labelledby": `${key}-title`, onkeydown: (event) => {
      const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (by && !event.target.matches("input, select, .scroll")) this.go(by);
    }, onclose: () => history.replaceState(null, "", location.pathname + location.search) });
    document.body.append(this.dialog);
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
    this.row = row;
    history.replaceState(null, "", this.source.address(row));
    const close = element("button", { type: "button", class: "close", onclick: () => this.dialog.close() }, "Close");
    this.dialog.replaceChildren(
      element("div", { class: "bar top" },
        element("h2", { id: `${this.key}-title` }, this.source.title(row)),
        element("div", { class: "tools" }, this.stepButton("‹", "Previous", -1), this.stepButton("›", "Next", 1), close)),
      ...this.source.content(row));
    if (!this.dialog.open) this.dialog.showModal();
    this.dialog.scrollTop = 0;
  }

  stepButton(text, direction, by) {
    return element("button", {
      type: "button", "aria-label": `${direction} ${this.noun}`, "data-by": by, disabled: this.neighbour(by) === undefined, onclick: () => this.go(by),
    }, text);
  }
}
