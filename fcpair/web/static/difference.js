// How an edited text differs from the one that was given: word by word for the eye, and in numbers, which are those of the
// server (stages/answers/curation.py).

import { make } from "./make.js";

const { t } = globalThis.fcpairLanguage;
const MOST_STEPS = 4_000_000; // of the table of distances; a longer one would keep somebody waiting who types
const KEPT = "kept";
const REMOVED = "removed";
const ADDED = "added";
const SAID = { [REMOVED]: t("removed:"), [ADDED]: t("added:") }; // to whoever listens

export const wordsOf = (text) => text.match(/\S+/g) ?? [];
const identity = (text) => text.normalize("NFC").trim();

// Both lists without what they begin and end with alike: how much that is, and what is left of each.
function middles(one, other) {
  const n = Math.min(one.length, other.length);
  let [first, last] = [0, 0];
  while (first < n && one[first] === other[first]) first += 1;
  while (last < n - first && one.at(-1 - last) === other.at(-1 - last)) last += 1;
  return { first, last, left: one.slice(first, one.length - last), right: other.slice(first, other.length - last) };
}

// The table of the distances of all beginnings of one list from those of another; null where it would be too large.
function table(left, right) {
  const width = right.length + 1;
  if ((left.length + 1) * width > MOST_STEPS) return null;
  const steps = new Uint16Array((left.length + 1) * width);
  for (let column = 0; column < width; column += 1) steps[column] = column;
  for (let row = 1; row <= left.length; row += 1) {
    const at = row * width;
    steps[at] = row;
    for (let column = 1; column < width; column += 1) {
      const same = left[row - 1] === right[column - 1] ? 0 : 1;
      const replaced = steps[at - width + column - 1] + same;
      steps[at + column] = Math.min(replaced, steps[at - width + column] + 1, steps[at + column - 1] + 1);
    }
  }
  return steps;
}

function distance(one, other) {
  const { left, right } = middles(one, other);
  return !left.length || !right.length ? left.length + right.length : (table(left, right)?.at(-1) ?? null);
}

// How many words and characters were changed; null where they are too many to be counted while one types.
export function changed(given, edited) {
  const [one, other] = [identity(given), identity(edited)];
  return { words: distance(wordsOf(one), wordsOf(other)), characters: distance([...one], [...other]) };
}

// The words of both texts in their order, in runs: [what became of them, the words].
function runs(one, other) {
  const { first, last, left, right } = middles(one, other);
  const found = [[KEPT, one.slice(0, first)]];
  found.push(...between(left, right), [KEPT, one.slice(one.length - last)]);
  return found.filter(([, words]) => words.length);
}

function between(left, right) {
  const steps = table(left, right);
  if (!steps) return [[REMOVED, left], [ADDED, right]];
  const width = right.length + 1;
  let [row, column] = [left.length, right.length];
  const pieces = []; // from the end
  while (row || column) {
    const before = steps[row * width + column] - 1; // with one step less
    if (row && column && left[row - 1] === right[column - 1]) {
      [row, column] = [row - 1, column - 1];
      pieces.push([KEPT, left[row]]);
    } else if (row && steps[(row - 1) * width + column] === before) {
      row -= 1;
      pieces.push([REMOVED, left[row]]);
    } else if (column && steps[row * width + column - 1] === before) {
      column -= 1;
      pieces.push([ADDED, right[column]]);
    } else {
      [row, column] = [row - 1, column - 1];
      pieces.push([ADDED, right[column]], [REMOVED, left[row]]);
    }
  }
  return joined(pieces.reverse());
}

// Pieces as runs: between two words that are kept, first all that were removed, then all that were added.
function joined(pieces) {
  const found = [];
  let [removed, added] = [[], []];
  const close = () => {
    found.push([REMOVED, removed], [ADDED, added]);
    [removed, added] = [[], []];
  };
  for (const [what, word] of pieces) {
    if (what === REMOVED) removed.push(word);
    else if (what === ADDED) added.push(word);
    else {
      close();
      found.push([KEPT, [word]]);
    }
  }
  close();
  return found;
}

// Both texts in one line for the eye; whoever listens hears before each run what became of it.
export function difference(given, edited) {
  const { dir, lang } = document.documentElement;
  const page = { dir, lang };
  const marked = { [REMOVED]: "del", [ADDED]: "ins" };
  return runs(wordsOf(identity(given)), wordsOf(identity(edited))).flatMap(([what, words]) => {
    const text = words.join(" ");
    if (what === KEPT) return [text, " "];
    const said = make("span", { class: "visually-hidden", ...page }, `${SAID[what]} `);
    return [make(marked[what], {}, said, text), " "];
  });
}
