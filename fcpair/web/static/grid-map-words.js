// The words around a map: its legend, which is its table too, and what is said of the cell at the cursor.

import { CORPUS, OUTSIDE } from "./grid-map-file.js";

const AT_ONCE = 100; // texts that the server sends, from a round place on
const { t, number, digits, locale } = globalThis.fcpairLanguage;
const percents = new Intl.NumberFormat(locale, { style: "percent", minimumFractionDigits: 1, maximumFractionDigits: 1 });

function cellOf(name, text, scope) {
  const cell = document.createElement(name);
  cell.textContent = text;
  if (scope) cell.scope = scope;
  else if (name === "td") cell.className = "n";
  return cell;
}

function swatchOf({ light, dark }) {
  const swatch = document.createElement("span");
  swatch.className = "map-swatch";
  swatch.style.setProperty("--light", light);
  swatch.style.setProperty("--dark", dark);
  return swatch;
}

// Only none is 0.0 %, and only all is 100.0 %, as in the tables of the server.
function share(n, whole) {
  const percent = ((100 * n) / whole).toFixed(1);
  if (percent === "0.0" && n) return `< ${written(0.1)}`;
  return percent === "100.0" && n !== whole ? `> ${written(99.9)}` : written(Number(percent));
}

// A number in percent as the language writes it; in English with a space, as the server does.
const written = (percent) => (locale.startsWith("en") ? `${percent.toFixed(1)} %` : percents.format(percent / 100));

// The classes of a layer that have cells, with their colours, how many cells they have, and which share of all. A class that
// has pairs is a button, where `press` is called with it: the table below then has those pairs alone.
export function makeLegend(table, map, layer, pressed, press) {
  const counts = new Array(OUTSIDE + 1).fill(0);
  for (const index of map.classes(layer)) counts[index] += 1;
  const shown = [...layer.classes.keys(), CORPUS, OUTSIDE].filter((index) => counts[index]);
  table.caption.textContent = layer.title;
  table.tBodies[0].replaceChildren(
    ...shown.map((index) => {
      const row = document.createElement("tr");
      const meaning = cellOf("th", "", "row");
      const name = document.createElement(press && index < CORPUS ? "button" : "span");
      name.append(swatchOf(map.classOf(layer, index)), map.classOf(layer, index).meaning);
      if (name.type) {
        name.type = "button";
        name.setAttribute("aria-pressed", String(index === pressed));
        name.addEventListener("click", () => press(index));
      }
      meaning.append(name);
      row.append(meaning, cellOf("td", number(counts[index])), cellOf("td", share(counts[index], map.nRows * map.nColumns)));
      return row;
    }),
  );
}

// The beginnings of the texts of a map, which are fetched some at a time, when they are needed.
export class Texts {
  #address;
  #parts = new Map(); // promises of texts, by side and the first of them
  #fetched = new Map(); // and the texts that have come

  constructor(address) {
    this.#address = address;
  }

  async text(side, at) {
    const first = at - (at % AT_ONCE);
    const key = `${side} ${first}`;
    if (!this.#parts.has(key)) this.#parts.set(key, this.#fetch(key, side, first));
    return (await this.#parts.get(key))[at - first] ?? "";
  }

  // The text where it has come; else an empty one, and `later` is called when it has.
  now(side, at, later) {
    const first = at - (at % AT_ONCE);
    const texts = this.#fetched.get(`${side} ${first}`);
    if (!texts) this.text(side, at).then(later);
    return texts?.[at - first] ?? "";
  }

  async #fetch(key, side, first) {
    const address = new URL(this.#address, location.href);
    address.searchParams.set("side", side);
    address.searchParams.set("first", first);
    const texts = await fetch(address).then((response) => (response.ok ? response.json() : [])).catch(() => []);
    this.#fetched.set(key, texts);
    return texts;
  }
}

// Says where a cell is, what it is, and how its texts begin.
export function makeDescriber(place, texts, { rows, columns }) {
  const [where, ...bodies] = place.children;
  let wanted = "";

  async function describe(map, row, column, layer) {
    const { meaning } = map.classOf(layer, map.classes(layer)[row * map.nColumns + column]);
    const places = { row: digits(row + 1), rows, column: digits(column + 1), columns };
    const now = t("Row %(row)s (%(rows)s), column %(column)s (%(columns)s): %(meaning)s", { ...places, meaning });
    if (now === wanted) return;
    wanted = now;
    const both = await Promise.all([texts.text("rows", row), texts.text("columns", column)]);
    if (now !== wanted) return;
    where.textContent = now;
    bodies.forEach((body, at) => (body.textContent = both[at]));
  }

  return { describe };
}
