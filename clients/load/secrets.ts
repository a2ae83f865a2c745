/** Shorter texts than this are words, not secrets: replacing them would garble a report. */
const SHORTEST = 6;
const HIDDEN = "[hidden]";
/** Parameters of a URL whose values are secrets by their names. */
const SECRET_NAME = /key|token|secret|password|auth|sig/i;

/** Replaces secrets in a text, as they are and as URLs and JSON encode them: a server may repeat what it was sent. */
export function createScrub(secrets: readonly string[]): (text: string) => string {
  const forms = secrets
    .filter((secret) => secret.length >= SHORTEST)
    .flatMap((secret) => [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)]);
  // A longer one first: it may contain a shorter one.
  const all = [...new Set(forms)].sort((a, b) => b.length - a.length);
  return (text) => all.reduce((scrubbed, secret) => scrubbed.replaceAll(secret, HIDDEN), text);
}

/** A URL as reports show it: without user name and password, and without the values of parameters that are secrets. */
export function shownUrl(url: URL): string {
  const shown = new URL(url);
  shown.username = "";
  shown.password = "";
  for (const name of [...shown.searchParams.keys()]) {
    if (SECRET_NAME.test(name)) shown.searchParams.set(name, HIDDEN);
  }
  return shown.href;
}
