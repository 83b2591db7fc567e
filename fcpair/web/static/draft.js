// What is being typed into a field with `data-draft` is kept in this tab until the server has it or its person leaves:
// a session that has ended meanwhile, or a server that is away, must not cost it. The attribute names the field among
// all others, with its person: `KIND/...`. Of a kind, what belongs to no field of the page is dropped when something of
// it was saved.

const PLACE = "fcpair-draft/";
const fields = (root = document) => [...root.querySelectorAll("[data-draft]")];
const place = (field) => PLACE + field.dataset.draft;

function keep({ target }) {
  if (!target.matches?.("[data-draft]")) return;
  try {
    sessionStorage.setItem(place(target), target.value);
  } catch {
    // A browser that keeps nothing, or no more: the text stays in the page.
  }
}

function forget(isMeant) {
  Object.keys(sessionStorage).filter((key) => key.startsWith(PLACE) && isMeant(key)).forEach((key) => sessionStorage.removeItem(key));
}

// Puts back what was typed, and says so where the page has a place for that.
function restore() {
  for (const field of fields()) {
    const typed = sessionStorage.getItem(place(field));
    if (typed === null || typed === field.value) continue;
    field.value = typed;
    field.closest("details")?.setAttribute("open", "");
    const said = document.getElementById("draft-said");
    if (said) said.hidden = false;
  }
}

// The field is as the server made it.
function startAgain({ target }) {
  fields(target).forEach((field) => sessionStorage.removeItem(place(field)));
  document.getElementById("draft-said").hidden = true;
}

function leave({ target }) {
  if (target.getAttribute("action") !== "/leave") return;
  forget(() => true);
  Object.keys(localStorage).filter((key) => key.startsWith(PLACE)).forEach((key) => localStorage.removeItem(key)); // begun.js
}

document.addEventListener("input", keep);
document.addEventListener("reset", startAgain);
document.addEventListener("submit", leave);
document.addEventListener("fcpair:saved", ({ detail }) => sessionStorage.removeItem(PLACE + detail)); // by its field's name
document.addEventListener("fcpair:shown", () => restore());
const saved = document.querySelector("[data-saved]")?.dataset.saved;
if (saved) {
  const shown = fields().map(place); // what has been typed since, where the page is loaded again
  forget((key) => key.startsWith(`${PLACE}${saved}/`) && !shown.includes(key));
}
restore();
