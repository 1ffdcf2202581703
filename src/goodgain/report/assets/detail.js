// What stands behind a row of a table: a dialog with an address of its own, and steps to the rows beside it.

class Detail {
  // `of` says for a row: address(row), title(row), content(row); and table(), whose order the steps follow.
  constructor(key, noun, of) {
    Object.assign(this, { key, noun, of });
    this.dialog = element("dialog", { class: "detail", "aria-labelledby": `${key}-title`, onkeydown: (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (step && !event.target.matches("input, select, .scroll")) this.open(this.beside(step));
    }, onclose: () => history.replaceState(null, "", location.pathname + location.search) });
    document.body.append(this.dialog);
  }

  beside(step) {
    const { order } = this.of.table();
    const at = order.indexOf(this.row);
    return at < 0 ? undefined : order[at + step];
  }

  open(row) {
    if (row === undefined) return;
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
    const label = `${way} ${this.noun}`;
    return element("button", { type: "button", "aria-label": label, disabled: this.beside(by) === undefined, onclick: () => {
      this.open(this.beside(by));
      (this.dialog.querySelector(`[aria-label="${label}"]:not(:disabled)`) ?? this.dialog.querySelector(".close")).focus();
    } }, text);
  }
}
