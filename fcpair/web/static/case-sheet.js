// The part of the adjudicators' page that changes from one case to the next, as the server makes it: on the screen, at
// hand for later, or out of sight after it was decided. Nothing of it is kept outside this page.

import { compareClocks } from "./api.js";
import { rulingOf, undoing } from "./decisions.js";
import { make } from "./make.js";

const { t, digits } = globalThis.fcpairLanguage;
const PATIENCE_MS = 15_000;

export class Sheet {
  // `address` is where a reload finds it again.
  constructor(part, address) {
    this.part = part;
    this.address = address;
  }

  get form() {
    return this.part.querySelector("#pair");
  }

  // The number of its pair; null where it says that there is none.
  get pair() {
    return this.form ? Number(this.form.elements.cell_id.value) : null;
  }

  // Where the server shows what comes after it; null after the last.
  get onward() {
    return this.part.querySelector("#later")?.getAttribute("href") ?? null;
  }

  // What is decided, as the API takes it.
  ruling(outcome) {
    return rulingOf(this.form, outcome);
  }

  // Puts in what was typed before, and says why it is asked for again.
  ask({ note, flagged }, why) {
    this.form.elements.note.value = note;
    this.form.elements.flagged.checked = flagged;
    this.form.querySelector("details.note").open = note !== "" || flagged;
    this.form.before(make("p", { class: "notice warning", "data-word": t("Warning"), role: "alert" }, why));
  }

  // Shows how far everything is by what another sheet says, which is newer or older.
  takeProgress({ part }) {
    const [now, before] = [part, this.part].map((one) => one.querySelector(".progress"));
    if (!now.isEqualNode(before)) before.replaceWith(now.cloneNode(true));
  }

  // Offers to take back what another sheet offers to.
  takeUndo({ part }) {
    this.#putUndo(part.querySelector("#undo")?.cloneNode(true));
  }

  dropUndo() {
    this.#putUndo(null);
  }

  // Whether what it offers to take back is the decision on its own pair.
  get undoesItself() {
    return this.pair !== null && this.part.querySelector("#undo")?.dataset.pair === String(this.pair);
  }

  offerUndo({ cell_id, outcome }) {
    const words = [`${undoing({ cell_id, outcome })} `, make("kbd", {}, "U")];
    this.#putUndo(make("form", { id: "undo" }, make("button", { class: "outline secondary", "data-key": "u" }, ...words)));
  }

  #putUndo(form) {
    this.part.querySelector("#undo")?.remove();
    if (form) this.part.querySelector(".steps").prepend(form);
  }

  // In its place while the next one is on its way.
  waiting() {
    const part = this.part.cloneNode(true);
    const heading = make("h2", { id: "case-name", tabindex: "-1" }, t("%(Next_noun)s is on its way."));
    part.querySelector("#pair").replaceWith(make("div", { class: "notice" }, heading));
    part.querySelector("#later").remove();
    return new Sheet(part, this.onward);
  }
}

// Asks for a page of the adjudicators'. `sheet` is null where it is another page: then `reason` is what that says, if
// it says anything, and status 0 stands for a server that could not be reached.
export async function fetchSheet(address, options = {}) {
  try {
    const sent_ms = Date.now();
    const response = await fetch(address, { signal: AbortSignal.timeout(PATIENCE_MS), ...options });
    compareClocks(response, sent_ms);
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    const part = page.getElementById("case-sheet");
    const reason = page.querySelector("main p")?.textContent.trim() || t("The server answered %(status)s.", { status: digits(response.status) });
    const shownAt = `${new URL(response.url).pathname}${new URL(response.url).search}`;
    return { status: response.status, sheet: part && new Sheet(document.adoptNode(part), shownAt), reason };
  } catch {
    return { status: 0, sheet: null, reason: t("The server cannot be reached.") };
  }
}
