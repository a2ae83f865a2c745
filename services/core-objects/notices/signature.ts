import { createHmac } from "node:crypto";

// Standard Webhooks (standardwebhooks.com, symmetric signatures).

/** A message as it is sent. */
export interface Signed {
  readonly id: string;
  readonly at: Date;
  readonly body: string;
}

/** The headers by which a receiver knows who sent a message, when, and whether it has had it before. */
export function headersOf({ id, at, body }: Signed, secrets: readonly Buffer[]): Record<string, string> {
  const seconds = Math.floor(at.getTime() / 1_000);
  const signatures = secrets.map(
    (secret) => `v1,${createHmac("sha256", secret).update(`${id}.${seconds}.${body}`).digest("base64")}`,
  );
  return {
    "content-type": "application/json",
    "webhook-id": id,
    "webhook-timestamp": String(seconds),
    "webhook-signature": signatures.join(" "),
  };
}
