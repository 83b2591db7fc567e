// The language of the page: `t` and `tn` give messages in it, with values in the place of `%(name)s`, numbers in its
// digits. The server puts what it has of the language before this, see web/languages.py. Scripts are written in English.

globalThis.fcpairLanguage = (({ locale, plurals, messages, names }) => {
  const rules = new Intl.PluralRules(locale);
  const numbers = new Intl.NumberFormat(locale);
  const ids = new Intl.NumberFormat(locale, { useGrouping: false });
  const { counted, ...phrases } = JSON.parse(document.getElementById("desk")?.dataset.phrases ?? "{}");

  const written = (value) => (typeof value === "number" ? numbers.format(value) : value);
  // Letters against the direction of the page: a value that has some is isolated from what is beside it.
  const against = document.documentElement.dir === "rtl" ? /\p{Script=Latin}/u : /[\p{Script=Arab}\p{Script=Hebr}]/u;
  const isolated = (text) => (against.test(text) && !text.includes("\u2068") ? `\u2068${text}\u2069` : text);
  const filled = (message, values) =>
    message.replace(/%\((\w+)\)s/g, (_, name) => isolated(written(values[name] ?? phrases[name])));
  const isTranslated = (forms) => forms.length === plurals.length; // else it has the two forms of English
  const formOf = (forms, n) => forms.at(isTranslated(forms) ? plurals.indexOf(rules.select(n)) : Number(n !== 1));

  return {
    locale,
    number: written,
    digits: (id) => ids.format(id), // of an id, which is no number to count with
    t: (message, values = {}) => filled(messages[message] ?? message, values),
    tn: (one, many, n, values = {}) => filled(formOf(messages[one] ?? [one, many], n), { n, ...values }),
    nNouns: (n) => filled(formOf(counted, n), { n }), // units of work, as the page calls them
    nameOf: (name) => names[name] ?? name, // of an answer that has no wording
  };
})(globalThis.fcpairMessages);
