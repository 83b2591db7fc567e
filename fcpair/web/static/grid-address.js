// The address of the grid's page, which is the view: filters, columns, order and page of the pairs, and what the map shows.
// The session keeps the last one, so that whoever comes back from a pair finds the page as it was.

const KEPT = "fcpair-grid";
const PAGE = "after";
const ON_MAP = ["zoom", "x", "y"]; // what no link of the server has
export const CHANGED = "grid-changed";

export const asked = () => new URLSearchParams(location.search);

// Writes an address: as a step to which one can go back, or in place of the one that is there.
export function write(query, isStep = false) {
  const search = query.toString();
  const address = `${location.pathname}${search && `?${search}`}${location.hash}`;
  if (search !== location.search.replace(/^\?/, "")) {
    history[isStep ? "pushState" : "replaceState"](history.state, "", address);
  }
  remember({});
}

// Lets the page show what other filters find, from the first page on.
export function change(query, { keepPage = false } = {}) {
  if (!keepPage) query.delete(PAGE);
  query.delete("run");
  write(query, true);
  document.dispatchEvent(new Event(CHANGED));
}

// The filters of a link, with the place on the map that there is now.
export function follow(link) {
  const [query, now] = [new URL(link, location.href).searchParams, asked()];
  for (const name of ON_MAP) if (now.has(name)) query.set(name, now.get(name));
  change(query, { keepPage: query.has(PAGE) });
}

// The address of a pair, with the view that it is a pair of, so that the one before and the one after it are known.
export function pairAddress(address, number) {
  const pair = new URL(address.replace("/0", `/${number}`), location.href);
  const { searchParams } = pair;
  for (const [name, value] of asked()) if (![PAGE, "run", "grid", ...ON_MAP].includes(name)) searchParams.append(name, value);
  searchParams.set("from", "search");
  return pair.pathname + pair.search;
}

function kept() {
  try {
    return JSON.parse(sessionStorage.getItem(KEPT)) ?? {};
  } catch {
    return {};
  }
}

export function remember(more) {
  const { search } = location;
  const { cell, isBack, ...before } = kept(); // a cell is one of the map as it was
  sessionStorage.setItem(KEPT, JSON.stringify({ ...before, cell: before.search === search ? cell : undefined, search, ...more }));
}

const isFromPair = () => Boolean(document.referrer) && new URL(document.referrer).pathname.startsWith("/lead/pair/");
const wentBack = () => performance.getEntriesByType("navigation")[0]?.type === "back_forward";

// What was remembered of this very view, where somebody comes back to it.
export function remembered() {
  const { search, isBack, ...before } = kept();
  return search === location.search && (isBack || wentBack() || isFromPair()) ? before : {};
}

// Whoever comes from a pair to the bare page comes back to the view that there was of this grid: true where that is loaded.
export function comeBack() {
  const query = asked();
  const grid = query.get("grid");
  query.delete("grid");
  const { search } = kept();
  if (!isFromPair() || query.size || !search || search === location.search) return false;
  if (new URLSearchParams(search).get("grid") !== grid) return false;
  sessionStorage.setItem(KEPT, JSON.stringify({ ...kept(), isBack: true }));
  location.replace(location.pathname + search);
  return true;
}

addEventListener("popstate", () => location.reload());
