// Who leaves is asked once where an answer is not sent yet, or something that they began is not saved: leaving deletes
// what was begun (draft.js). What is not sent stays in this browser, and is sent when they sign in again.

const { t, tn } = globalThis.fcpairLanguage;
const BEGUN = "fcpair-draft/";
const SENT_WITHIN_MS = 600; // of an answer that is on its way when they press
const dialog = document.getElementById("leave-asks");
const page = document.documentElement.dataset; // has `leaving` once they have said so, and nothing asks them again

function keys(storage) {
  try {
    return Object.keys(storage);
  } catch {
    return []; // a browser that keeps nothing
  }
}

function nUnsent() {
  const place = document.getElementById("desk")?.dataset.place;
  try {
    return JSON.parse(localStorage.getItem(place) ?? "[]").length;
  } catch {
    return 0;
  }
}

// Why they may not want to leave yet.
function reasons() {
  const n = nUnsent();
  const isBegun = [sessionStorage, localStorage].some((storage) => keys(storage).some((key) => key.startsWith(BEGUN)));
  const unsent = tn(
    "%(n)s answer is not sent yet. It stays in this browser until you sign in again.",
    "%(n)s answers are not sent yet. They stay in this browser until you sign in again.",
    n,
  );
  return [...(n ? [unsent] : []), ...(isBegun ? [t("What you have begun and not saved will be deleted.")] : [])];
}

async function ask(event) {
  const form = event.target;
  if (form.getAttribute("action") !== "/leave" || "leaving" in page || !reasons().length) return;
  event.preventDefault();
  event.stopImmediatePropagation(); // nothing is deleted before they say so
  if (nUnsent()) await new Promise((resolve) => setTimeout(resolve, SENT_WITHIN_MS));
  const leave = () => {
    page.leaving = "";
    form.requestSubmit();
  };
  if (!reasons().length) return leave();
  document.getElementById("leave-reasons").textContent = reasons().join(" ");
  document.getElementById("leave-yes").onclick = leave;
  document.getElementById("leave-no").onclick = () => dialog.close();
  dialog.showModal();
}

if (dialog) document.addEventListener("submit", ask, { capture: true });
