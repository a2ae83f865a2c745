/** What a connection fails with before anything was sent over it (Node's and undici's own codes). */
const UNSENT = new Set([
  "EAI_AGAIN",
  "ECONNREFUSED",
  "EHOSTDOWN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "UND_ERR_CONNECT_TIMEOUT",
]);

/** TLS that was not agreed on: nothing is sent before (the codes of OpenSSL's verification, and Node's own). */
const NO_TLS = /^(?:ERR_TLS_|ERR_SSL_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/;

/** Whether it is known of a connection's failure that nothing was sent. */
export function isUnsent(error: unknown): boolean {
  const { code } = (error ?? {}) as { readonly code?: unknown };
  return typeof code === "string" && (UNSENT.has(code) || NO_TLS.test(code));
}
