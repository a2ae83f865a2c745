import type { ReceiverScheme } from "../auth/audit-export/setting.js";
import { parsedUrl } from "../shared/parsed-url.js";

const SCHEMES: readonly ReceiverScheme[] = ["https:", "http:", "tls:", "file:"];

/**
 * Reads the URL of a receiver.
 *
 * @throws Error that says what it should be.
 */
export function readReceiver(text: string): URL {
  const url = parsedUrl(text);
  const hasHost = url?.protocol === "file:" ? url.host === "" && url.pathname.length > 1 : url?.hostname !== "";
  if (url === undefined || !(SCHEMES as readonly string[]).includes(url.protocol) || !hasHost || url.hash !== "")
    throw new Error(
      "must be URLs such as https://collector.example.com:4318/v1/logs (OTLP logs), tls://siem.example.com:6514?ca=/etc/siem-ca.pem (syslog) or file:///var/log/sallyport/audit.jsonl (JSON lines)",
    );
  if (url.username + url.password !== "")
    throw new Error("must have no user name or password: put a credential into AUDIT_RECEIVER_HEADERS");
  return url;
}

/**
 * Reads headers: `name=value`, separated by commas.
 *
 * @throws Error that says what they should be.
 */
export function readHeaders(text: string): Readonly<Record<string, string>> {
  const headers = new Headers();
  for (const part of text.split(",")) {
    const at = part.indexOf("=");
    try {
      headers.append(part.slice(0, Math.max(at, 0)).trim(), part.slice(at + 1).trim());
    } catch {
      throw new Error("must be headers such as Authorization=Bearer abc, separated by commas");
    }
  }
  return Object.fromEntries(headers);
}
