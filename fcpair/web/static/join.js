// The invite link carries its token behind the #, which browsers never send: so it stands in no log. It is taken out
// of the address before anything else, lest it stay in the history, and is posted in the body of the form.

import { forgetAll } from "./kept.js";

const form = document.querySelector("#join");
const forgotten = forgetAll().catch(() => {}); // nobody is in now, or somebody else will be

async function comeIn() {
  const token = location.hash.slice(1);
  if (!token) return;
  history.replaceState(null, "", location.pathname);
  form.elements.token.value = token;
  await forgotten;
  form.requestSubmit();
}

window.addEventListener("hashchange", comeIn); // the link was opened where this page was open already
comeIn();
