// The pairs that match, as a table whose columns can be sorted, widened and chosen, and whose pairs are ticked over several
// pages. Tabulator lays it out; what is in it, in which order and which part of it is asked of the server.

import { fetchPatiently } from "./patient-fetch.js";
import { CHANGED, asked, change, pairAddress, remember, remembered } from "./grid-address.js";

const { t, digits } = globalThis.fcpairLanguage;
const WIDTHS = { number: { width: 84, minWidth: 64 }, text: { minWidth: 180, widthGrow: 3 }, fact: { minWidth: 126, widthGrow: 1 } };
const PAGES = [25, 50, 100, 200];
const section = document.getElementById("pairs");
const element = (id) => document.getElementById(id);
const ticked = new Set(remembered().ticked ?? []); // numbers of pairs, also of other pages
let table = null;
let answer = null; // what the server said last
let newest = 0; // request
let lastTicked = -1; // place on the page, from which Shift ticks on

const make = (name, values) => Object.assign(document.createElement(name), values);
const numberOf = (row) => row[section.dataset.number];

function tick(number, isTicked) {
  if (isTicked) ticked.add(number);
  else ticked.delete(number);
}

function ticks() {
  const boxes = [...element("pair-table").querySelectorAll("[data-tick]")];
  for (const box of boxes) {
    box.checked = ticked.has(Number(box.dataset.tick));
    box.closest(".tabulator-row")?.classList.toggle("is-ticked", box.checked);
  }
  const whole = element("tick-page");
  const n = boxes.filter((box) => box.checked).length;
  if (whole) [whole.checked, whole.indeterminate] = [n > 0 && n === boxes.length, n > 0 && n < boxes.length];
  if (!section.dataset.acts) return;
  element("n-ticked").textContent = `(${digits(ticked.size)})`;
  const isNone = element("acts").elements.scope.value === "ticked" ? !ticked.size : !answer?.total;
  for (const button of element("acts").querySelectorAll("[data-act]")) button.disabled = isNone;
  remember({ ticked: [...ticked] });
}

function ticker(cell) {
  const number = numberOf(cell.getRow().getData());
  const box = make("input", { type: "checkbox" });
  box.dataset.tick = number;
  box.setAttribute("aria-label", t("Tick pair %(number)s", { number: digits(number) }));
  box.addEventListener("click", (event) => {
    const at = answer.rows.findIndex((row) => numberOf(row) === number);
    const [first, last] = event.shiftKey && lastTicked >= 0 ? [Math.min(at, lastTicked), Math.max(at, lastTicked)] : [at, at];
    for (const row of answer.rows.slice(first, last + 1)) tick(numberOf(row), box.checked);
    lastTicked = at;
    ticks();
  });
  return box;
}

function pageTicker() {
  const box = make("input", { type: "checkbox", id: "tick-page" });
  box.setAttribute("aria-label", t("Tick all pairs of this page"));
  box.addEventListener("change", () => {
    for (const row of answer.rows) tick(numberOf(row), box.checked);
    ticks();
  });
  return box;
}

function linkTo(number) {
  return make("a", { textContent: digits(number), href: pairAddress(section.dataset.pair, number) });
}

function dot(colour) {
  const mark = make("span", { className: "dot" });
  mark.dataset.colour = colour;
  return mark;
}

function content({ kind, name }, cell) {
  const value = cell.getValue();
  if (kind === "number") return linkTo(value);
  if (kind === "text") return make("div", { className: "pair-text", dir: "auto", textContent: value || "–", title: value });
  const fact = make("div", { className: "pair-fact" });
  for (const part of name === "labels" ? value.split(/(?<=[,،] )/) : [value]) {
    const colour = name === "labels" && answer.colours[part.trim().replace(/^\S+ |[,،]$/g, "")];
    if (colour) fact.append(dot(colour));
    fact.append(part || "–");
  }
  return fact;
}

const sorted = () => {
  const sort = asked().get("sort") ?? section.dataset.number;
  return [sort.replace(/^-/, ""), sort.startsWith("-")];
};

// A click sorts by the column, another one the other way round.
function head(column, cell) {
  const [by, isFalling] = sorted();
  const button = make("button", { type: "button", textContent: column.title, className: "pair-head" });
  const isBy = by === column.name;
  if (isBy) button.append(Object.assign(make("span", { textContent: isFalling ? " ↓" : " ↑" }), { ariaHidden: "true" }));
  queueMicrotask(() => cell.getElement().closest(".tabulator-col").setAttribute("aria-sort", isBy ? (isFalling ? "descending" : "ascending") : "none"));
  button.addEventListener("click", () => {
    const query = asked();
    query.set("sort", `${isBy && !isFalling ? "-" : ""}${column.name}`);
    change(query);
  });
  return button;
}

function columns() {
  const tickColumn = { field: "tick", title: "", width: 44, minWidth: 44, frozen: true, resizable: false, headerSort: false, formatter: ticker, titleFormatter: pageTicker };
  const shown = answer.columns.filter((column) => column.is_shown);
  return [
    ...(section.dataset.acts ? [tickColumn] : []),
    ...shown.map((column) => ({
      field: column.name,
      title: column.title,
      headerSort: false,
      frozen: column.kind === "number",
      formatter: (cell) => content(column, cell),
      titleFormatter: (cell) => head(column, cell),
      ...WIDTHS[column.kind],
    })),
  ];
}

// Tabulator's grid is to be read, not walked through by arrows: screen readers are told of a table.
function describe() {
  const root = element("pair-table");
  root.setAttribute("role", "table");
  root.setAttribute("aria-label", element("pairs-title").textContent);
  root.querySelector(".tabulator-tableholder")?.removeAttribute("tabindex");
  for (const cell of root.querySelectorAll("[role=gridcell]")) {
    cell.setAttribute("role", cell.querySelector("a") ? "rowheader" : "cell");
  }
}

async function draw() {
  const shape = JSON.stringify([answer.columns.filter((column) => column.is_shown).map(({ name }) => name), sorted()]);
  const root = element("pair-table");
  if (!table) {
    table = await new Promise((done) => {
      const made = new globalThis.Tabulator(root, {
        data: answer.rows,
        columns: columns(),
        layout: "fitColumns",
        nestedFieldSeparator: false,
        renderVertical: "basic",
        columnDefaults: { resizable: "header" },
        placeholder: "",
      });
      root.hidden = false;
      made.on("tableBuilt", () => {
        const [heads, rows] = [".tabulator-header-contents", ".tabulator-tableholder"].map((part) => root.querySelector(part));
        heads.addEventListener("scroll", () => (rows.scrollLeft = heads.scrollLeft));
        done(made);
      });
      made.on("renderComplete", () => {
        describe();
        ticks();
      });
    });
  } else {
    if (root.dataset.shape !== shape) table.setColumns(columns());
    await table.setData(answer.rows);
  }
  root.dataset.shape = shape;
  describe();
}

function chips() {
  const list = element("chips");
  const all = list.lastElementChild;
  list.hidden = !answer.chips.length;
  list.replaceChildren(
    ...answer.chips.map(([text, href]) => {
      const link = make("a", { className: "chip", href, textContent: `${text} ` });
      link.setAttribute("aria-label", t("Remove the filter “%(filter)s”", { filter: text }));
      link.append(Object.assign(make("span", { textContent: "✕" }), { ariaHidden: "true" }));
      const line = make("li");
      line.append(link);
      return line;
    }),
    all,
  );
}

function pages() {
  const nav = element("pair-pages");
  const size = nav.querySelector("select");
  if (!PAGES.includes(answer.size)) size.append(new Option(digits(answer.size), answer.size));
  size.value = answer.size;
  const places = { first: 0, previous: answer.first - answer.size, next: answer.first + answer.size };
  for (const [name, place] of Object.entries(places)) {
    const button = nav.querySelector(`[name=${name}]`);
    button.disabled = name === "next" ? place >= answer.total : answer.first === 0;
    button.value = Math.max(place, 0);
  }
  nav.hidden = answer.total <= Math.min(...PAGES, answer.size);
}

function makePages() {
  const nav = make("nav", { id: "pair-pages", className: "pair-pages actions" });
  nav.setAttribute("aria-label", t("Pages of pairs"));
  const names = { first: t("First page"), previous: t("Previous page"), next: t("Next page") };
  for (const [name, textContent] of Object.entries(names)) {
    const button = make("button", { type: "button", className: "secondary", name, textContent });
    button.addEventListener("click", () => {
      const query = asked();
      if (button.value === "0") query.delete("after");
      else query.set("after", button.value);
      change(query, { keepPage: true });
      section.scrollIntoView({ block: "start" });
    });
    nav.append(button);
  }
  const label = make("label", { textContent: `${t("Pairs on a page")} ` });
  const size = make("select");
  size.append(...PAGES.map((n) => new Option(digits(n), n)));
  size.addEventListener("change", () => {
    const query = asked();
    query.set("size", size.value);
    change(query);
  });
  label.append(size);
  nav.append(label);
  element("pair-table").after(nav);
}

async function load() {
  const request = ++newest;
  const address = new URL(section.dataset.pairs, location.href);
  address.search = location.search;
  section.setAttribute("aria-busy", "true");
  let told = null;
  try {
    const response = await fetchPatiently(address);
    told = response.ok ? await response.json() : { problem: t("The pairs cannot be read: load the page again.") };
  } catch {
    told = { problem: t("The server cannot be reached, so the pairs cannot be read.") };
  }
  if (request !== newest) return;
  section.removeAttribute("aria-busy");
  const problem = element("pairs-problem");
  problem.hidden = !told.problem;
  problem.textContent = told.problem ?? "";
  if (told.problem) return;
  // Of other pairs than those that were there, none is ticked.
  if (JSON.stringify(answer.chips.map(([text]) => text)) !== JSON.stringify(told.chips.map(([text]) => text))) ticked.clear();
  await show(told);
}

async function show(told) {
  answer = told;
  element("plain-table")?.remove();
  element("pairs-note").textContent = answer.note;
  element("pairs-range").textContent = answer.range;
  element("n-matching").textContent = answer.chips.length ? answer.matching : "";
  if (section.dataset.acts) element("all-matching").textContent = answer.all;
  element("no-pairs").hidden = answer.total > 0;
  element("pair-table").hidden = !answer.total;
  chips();
  pages();
  await draw();
  lastTicked = -1;
  ticks();
}

// What is chosen goes with the act: the filters of the address, and the pairs that are ticked.
function send({ submitter }) {
  const form = element("acts");
  const isTicked = form.elements.scope.value === "ticked";
  // A file of nothing is of no use: without a tick it has all pairs that match.
  if (submitter === element("download") && isTicked && !ticked.size) form.elements.scope.value = "all";
  const fields = [...asked()].filter(([name]) => !["after", "run", "zoom", "x", "y"].includes(name));
  if (isTicked) fields.push(...[...ticked].map((number) => ["pair", number]));
  form.querySelector("[data-kept]").replaceChildren(...fields.map(([name, value]) => make("input", { type: "hidden", name, value })));
}

function chooseColumns() {
  const form = element("columns");
  form.querySelector("[type=submit]").hidden = true;
  form.addEventListener("change", () => {
    const query = asked();
    query.set("show", [...form.querySelectorAll(":checked")].map((box) => box.value).join(","));
    change(query, { keepPage: true });
  });
}

export function beginPairs() {
  if (!section) return;
  for (const box of section.querySelectorAll("[name=pair]")) if (box.checked) ticked.add(Number(box.value));
  makePages();
  chooseColumns();
  element("acts").addEventListener("submit", send);
  element("acts").addEventListener("change", ticks);
  document.addEventListener(CHANGED, load);
  show(JSON.parse(section.dataset.answer));
}
