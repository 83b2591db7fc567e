"""The pages and the JSON API: they parse, call Study or Grid, and show.

A request passes `server`, then `auth`, which says who has come, and reaches its endpoint as a visit (`visits`), which
says whose the endpoint is. `errors` answers what went wrong, `context` is what every page gets. `fcpair serve` hands
the server the name of the app, and its settings through the environment.

Pages use no inline script and no inline style: the content security policy forbids it. In `static/`, `desk.js` runs the
page on which people answer and `view.js` shows it; `form.js` and `questions.js` (where a new kind of question goes) ask
any form. `adjudicate.js` runs the page on which people decide, `case-sheet.js` is what it shows. `begun.js` keeps what
is not saved yet, `outbox.js` what waits to be sent, `draft.js` what is typed elsewhere; `kept.js` and the service
worker `worker.js` open the page without a connection. No text may stay in a browser longer than it is needed.
"""
