"""The pages and the JSON API: they parse, call Study or Grid, and show.

`auth.py` says who has come and what they may, `context.py` has what every page gets, `errors.py` answers errors. The
pages use no inline script and no inline style: the content security policy forbids it. In `static/`, `desk.js` runs
the page on which people answer, `view.js` shows it, `form.js` and `questions.js` (where a new kind of question goes)
ask any form, `begun.js` keeps what is not saved yet, `outbox.js` what waits to be sent, `draft.js` what is typed
elsewhere, and `kept.js` and the service worker `worker.js` (served by `pages/offline.py`) let the page open without a
connection. No text may stay in a browser longer than it is needed. What annotators and validators use imports no
pandas: the server is to start in two seconds and stay below 200 MB for them.
"""
