/** Shorter texts than this are words, not secrets: replacing them would garble a report. */
const SHORTEST = 6;
const HIDDEN = "[hidden]";
/** Parameters of a URL whose values are secrets by their names. */
const SECRET_NAME = /key|token|secret|password|auth|sig/i;

/**
 * Makes a server's words fit to be shown. Secrets are replaced, as they are and as URLs and JSON encode them, because a
 * server may repeat what it was sent; so is the beginning of one at the end, where the words were cut. Control
 * characters become spaces, because a terminal would obey them.
 */
export function createScrub(secrets: readonly string[]): (text: string) => string {
  const forms = secrets
    .filter((secret) => secret.length >= SHORTEST)
    .flatMap((secret) => [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)]);
  // A longer one first: it may contain a shorter one.
  const all = [...new Set(forms)].sort((a, b) => b.length - a.length);
  return (text) => {
    const whole = all.reduce((scrubbed, secret) => scrubbed.replaceAll(secret, HIDDEN), text);
    return all.reduce(withoutBeginning, whole).replace(/\p{Cc}/gu, " ");
  };
}

/** The text without the longest beginning of the secret with which it ends. */
function withoutBeginning(text: string, secret: string): string {
  for (let length = Math.min(secret.length - 1, text.length); length >= SHORTEST; length--) {
    if (text.endsWith(secret.slice(0, length))) return `${text.slice(0, -length)}${HIDDEN}`;
  }
  return text;
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
