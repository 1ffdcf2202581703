// What stands behind a row of a table: a dialog with an address of its own, and steps to the rows beside it.

class Detail {
  // `of` says for a row: address(row), title(row), content(row); and table(), whose order the steps follow.
  constructor(key, noun, of) {
    Object.assign(this, { key, noun, of });
    this.dialog = element("dialog", { class: "detail", "aria-labelledby": `${key}-title`, onkeydown: (event) => {
      const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (by && !event.target.matches("input, select, .scroll")) this.go(by);
    }, onclose: () => history.replaceState(null, "", location.pathname + location.search) });
    document.body.append(this.dialog);
  }

  // The row so many places further in the table, if there is one.
  beside(by) {
    const { order } = this.of.table();
    const at = order.indexOf(this.row);
    return at < 0 ? undefined : order[at + by];
  }

  // The focus stays on the button of the step, so that the next key is heard too.
  go(by) {
    const row = this.beside(by);
    if (row === undefined) return;
    this.open(row);
    (this.dialog.querySelector(`[data-by="${by}"]:not(:disabled)`) ?? this.dialog.querySelector(".close")).focus();
  }

  open(row) {
    this.row = row;
    history.replaceState(null, "", this.of.address(row));
    const close = element("button", { type: "button", class: "close", onclick: () => this.dialog.close() }, "Close");
    this.dialog.replaceChildren(
      element("div", { class: "bar top" },
        element("h2", { id: `${this.key}-title` }, this.of.title(row)),
        element("div", { class: "tools" }, this.step("‹", "Previous", -1), this.step("›", "Next", 1), close)),
      ...this.of.content(row));
    if (!this.dialog.open) this.dialog.showModal();
    this.dialog.scrollTop = 0;
  }

  step(text, way, by) {
    return element("button", {
      type: "button", "aria-label": `${way} ${this.noun}`, "data-by": by, disabled: this.beside(by) === undefined, onclick: () => this.go(by),
    }, text);
  }
}
