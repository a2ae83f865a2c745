import type { WebhookSettings } from "../core-objects/notices/setting.js";
import { parsedUrl } from "../shared/parsed-url.js";

const PREFIX = "whsec_";
/** Bytes of a secret, as Standard Webhooks bounds them. */
const LEAST = 24;
const MOST = 64;

/**
 * Reads an address with its secrets, separated by spaces.
 *
 * @throws Error that says what it should be.
 */
export function readWebhook(text: string): WebhookSettings {
  const [address = "", ...secrets] = text.trim().split(/\s+/);
  const url = parsedUrl(address);
  if (url === undefined || !["https:", "http:"].includes(url.protocol) || url.username + url.password !== "")
    throw new Error("must begin with the URL of the receiver, such as https://example.com/hooks whsec_BASE64");
  if (secrets.length === 0) throw new Error(`must have a secret after the URL: ${FORM}`);
  return { url, secrets: secrets.map(secretIn) };
}

const FORM = `${PREFIX} and ${LEAST} to ${MOST} random bytes in base64, such as "whsec_$(openssl rand -base64 32)"`;

function secretIn(text: string): Buffer {
  const bytes = Buffer.from(text.slice(PREFIX.length), "base64");
  const isSecret = text.startsWith(PREFIX) && bytes.toString("base64") === text.slice(PREFIX.length);
  if (!isSecret || bytes.length < LEAST || bytes.length > MOST) throw new Error(`has a secret that is not ${FORM}`);
  return bytes;
}
