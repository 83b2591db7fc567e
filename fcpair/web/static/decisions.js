// Decisions on their way to the server, whichever page of the adjudicators' they are made on.

import { meaning, sentence } from "./api.js";
import { inWords } from "./make.js";

const { t, digits } = globalThis.fcpairLanguage;
const FORBIDDEN = 403;

// The offer to take a decision back.
export const undoing = ({ cell_id, outcome }) =>
  t("Undo %(noun)s %(number)s: %(label)s", { number: digits(cell_id), label: inWords(outcome) });

// What a form decides, as the API takes it.
export function rulingOf(form, outcome) {
  const { cell_id, note, flagged, seen_decision_id, seen_answer_id } = form.elements;
  return {
    cell_id: Number(cell_id.value),
    outcome,
    note: note.value.trim(),
    flagged: flagged.checked,
    seen_decision_id: seen_decision_id ? Number(seen_decision_id.value) : null,
    seen_answer_id: Number(seen_answer_id.value),
  };
}

// Sends one decision, or that it is taken back; see Outbox for what it gives. `onSaved()` hears that the server has it,
// `signedOut(isAnother)` that nobody is signed in, or somebody whose page this is not, and `comeBack(item, reason)`,
// which gives what this does, that the server refuses it.
export async function sendDecision(api, place, kept, acts) {
  const { isTried, isUndo = false, draft, grid: name, outcome, ...item } = kept;
  const { request_id, cell_id } = item;
  const path = isUndo ? `/api/decisions/${cell_id}/undo` : "/api/decisions";
  const body = isUndo ? { request_id } : { ...item, outcome };
  const reply = await api.submit(name ? `${path}?${new URLSearchParams({ grid: name })}` : path, "decided_at", body);
  const outcomeOfSending = meaning(reply.status);
  if (outcomeOfSending === "stop") acts.signedOut();
  if (outcomeOfSending === "done") {
    acts.onSaved();
    document.dispatchEvent(new CustomEvent("fcpair:saved", { detail: draft }));
  }
  if (outcomeOfSending !== "refused") return outcomeOfSending;
  const sent = { isUndo, draft, grid: name, outcome, ...item };
  if (reply.status === FORBIDDEN) {
    const { session, isIn } = await api.session("/adjudicate", place);
    if (session === "renewed") return sendDecision(api, place, sent, acts);
    if (session === "stop") acts.signedOut(isIn);
    if (session !== "same") return session;
  }
  return acts.comeBack(sent, sentence(reply));
}
