// The map of a grid as the server sends it (report/map_file.py): a head in JSON, then arrays of whole numbers.

import { fetchPatiently } from "./patient-fetch.js";

const { t } = globalThis.fcpairLanguage;
const HEAD_AT = 4;
export const CORPUS = 254; // classes of the places that have no cell
export const OUTSIDE = 255;

// Fetches a map. Raises an Error with a sentence for whoever looks.
export async function fetchMap(address) {
  const response = await fetchPatiently(address).catch(() => null);
  if (!response) throw new Error(t("The server cannot be reached, so the map cannot be read."));
  if (response.ok && response.headers.get("content-type") === "application/octet-stream") {
    return read(await response.arrayBuffer());
  }
  throw new Error(await sentenceOf(response));
}

async function sentenceOf(response) {
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  const said = response.ok ? null : page.querySelector("main p")?.textContent.trim();
  return said || t("The map cannot be read: load the page again.");
}

function read(buffer) {
  const end = HEAD_AT + new DataView(buffer).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, HEAD_AT, end - HEAD_AT)));
  const arrays = {};
  let at = end;
  for (const [name, size, n] of head.arrays) {
    arrays[name] = size === 1 ? new Uint8Array(buffer, at, n) : new Uint32Array(buffer, at, n);
    at += size * n;
  }
  return new CellMap(head, arrays);
}

const counting = (n) => Uint32Array.from({ length: n }, (_, at) => at);

export class CellMap {
  #arrays;
  #spread = null; // of the layer that was asked for last: the class of every place, with or without a cell

  constructor(head, arrays) {
    this.#arrays = arrays;
    this.head = head;
    [this.nRows, this.nColumns] = head.shape;
  }

  get layers() {
    return this.head.layers;
  }

  // The orders of a side that there are besides that of the numbers.
  orders(side) {
    return this.head.orders[side];
  }

  // The places of a side's texts, in an order; in that of their numbers where there is no such order.
  order(side, name) {
    return this.#arrays[`${side}-${name}`] ?? counting(side === "rows" ? this.nRows : this.nColumns);
  }

  layer(name) {
    return this.layers.find((layer) => layer.name === name) ?? this.layers[0];
  }

  // The class of every place in a layer, row by row.
  classes(layer) {
    if (this.#spread?.name !== layer.name) {
      this.#spread = { name: layer.name, classes: this.#spreadOut(this.#arrays[layer.name]) };
    }
    return this.#spread.classes;
  }

  #spreadOut(index) {
    const { places, corpus } = this.#arrays;
    if (!places) return index;
    const classes = new Uint8Array(this.nRows * this.nColumns).fill(OUTSIDE);
    corpus.forEach((place) => (classes[place] = CORPUS));
    places.forEach((place, at) => (classes[place] = index[at]));
    return classes;
  }

  // What a class of a layer is: its meaning, and its colour on light and on dark pages.
  classOf(layer, index) {
    return index < CORPUS ? layer.classes[index] : this.head.outside[index - CORPUS];
  }

  // The number of the pair at a place; null where there is none.
  number(place) {
    const { places, numbers } = this.#arrays;
    const at = places ? bisect(places, place) : place;
    if (at < 0) return null;
    return numbers ? numbers[at] : place + 1;
  }
}

// Where a number is among others, which ascend; -1 where it is not.
function bisect(numbers, wanted) {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle] < wanted) low = middle + 1;
    else high = middle;
  }
  return numbers[low] === wanted ? low : -1;
}
