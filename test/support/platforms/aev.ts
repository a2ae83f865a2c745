import { loadPlatform } from "../../../services/platform-proxy/parts.js";
import { type AevSandbox, type AevSandboxOptions, startSandbox } from "../../../services/sandbox/aev/server.js";
import { emailOf, type Harness, startHarness, type Through } from "./harness.js";

/** The aev tools in front of the sandbox of their platform. */
export interface AevHarness extends Harness {
  readonly sandbox: AevSandbox;
  /** Asks the platform itself, past the service, as one of its users: with JSON, or a form. */
  ask(as: string, method: string, path: string, body?: unknown): Promise<{ status: number; body: unknown }>;
}

/** Settings of the sandbox, and of the way to it. */
export type AevOptions = Partial<AevSandboxOptions> & Through;

const setupAt = async (url: string, publicUrl = url) => ({
  platform: await loadPlatform("aev"),
  as: "planner",
  url,
  publicUrl,
});

/** Starts the aev tools in front of a sandbox. */
export async function startAev({ through = (url) => url, ...options }: AevOptions = {}): Promise<AevHarness> {
  const { started: sandbox, ...harness } = await startHarness(async ({ url: trust }) => {
    const started = await startSandbox({ host: "127.0.0.1", port: 0, trust, ...options });
    return { started, setup: await setupAt(through(started.url), started.url) };
  });
  return {
    ...harness,
    sandbox,
    async ask(as, method, path, body) {
      const token = await harness.issuer.sign({ aud: sandbox.url, email: emailOf(as) });
      const reply = await fetch(`${sandbox.url}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          accept: "application/json",
          ...(!(body instanceof FormData) && { "content-type": "application/json" }),
        },
        ...(body !== undefined && { body: body instanceof FormData ? body : JSON.stringify(body) }),
      });
      const text = await reply.text();
      const isJson = reply.headers.get("content-type")?.includes("json") === true;
      return { status: reply.status, body: text === "" ? undefined : isJson ? JSON.parse(text) : text };
    },
  };
}

/** Starts the aev tools in front of a platform that runs already. */
export const startAevAt = (url: string): Promise<Harness> =>
  startHarness(async () => ({ started: {}, setup: await setupAt(url) }));
