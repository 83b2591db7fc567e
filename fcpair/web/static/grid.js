// The page of the grid: filters, map and pairs, which all show what is in the address.

import { CHANGED, asked, change, comeBack, follow } from "./grid-address.js";
import { beginMap } from "./grid-map.js";
import { beginPairs } from "./pair-table.js";
import { beginViews } from "./pair-views.js";

const TYPED_MS = 500; // after the last letter, what was typed is searched
const filters = document.getElementById("filters");
let typing;

function search() {
  clearTimeout(typing);
  const query = asked();
  for (const field of filters.elements) {
    if (!field.name || field.type === "hidden") continue;
    if (field.value.trim()) query.set(field.name, field.value.trim());
    else query.delete(field.name);
  }
  if (query.toString() !== asked().toString()) change(query);
}

function fill() {
  const query = asked();
  for (const field of filters.elements) {
    if (field.name && field.type !== "hidden" && field !== document.activeElement) field.value = query.get(field.name) ?? "";
  }
}

function beginFilters() {
  if (!filters || !document.getElementById("pairs")) return;
  document.getElementById("find").hidden = true;
  filters.addEventListener("submit", (event) => {
    event.preventDefault();
    search();
  });
  filters.addEventListener("change", search);
  filters.addEventListener("input", () => {
    clearTimeout(typing);
    typing = setTimeout(search, TYPED_MS);
  });
  document.getElementById("chips").addEventListener("click", (event) => {
    const link = event.target.closest("a");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    follow(link.href);
  });
  document.addEventListener(CHANGED, fill);
}

if (!comeBack()) {
  beginFilters();
  beginMap();
  beginPairs();
  beginViews();
}
