import { setTimeout as sleep } from "node:timers/promises";
import type { DescMethod, DescMethodUnary, MessageInitShape } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, type Transport } from "@connectrpc/connect";

/** How long calls may take, and how often they are made again. */
export interface Patience {
  /** How long a call of one answer may take with all its repetitions, in milliseconds; 30,000 by default, 0 for as long as it takes. Streams take as long as their call says. */
  readonly timeoutMs?: number;
  /** How often a call is made again where that is safe and may help; 2 by default. */
  readonly retries?: number;
}

/** How long a call may take where nobody says, in milliseconds. */
export const TIMEOUT_MS = 30_000;
/** How often a call is made again where nobody says. */
export const RETRIES = 2;
/** The wait before the first repetition where the service does not say; it doubles. In milliseconds. */
export const FIRST_WAIT_MS = 200;
/** A longer wait than this is the caller's to decide on, in milliseconds. */
export const LONGEST_WAIT_MS = 10_000;

/** Whether to make a call twice does no more than to make it once: by its method, or by the request_id that it carries (AIP-155). */
export function isRepeatable(method: Pick<DescMethod, "idempotency">, request: object): boolean {
  if (method.idempotency !== MethodOptions_IdempotencyLevel.IDEMPOTENCY_UNKNOWN) return true;
  return "requestId" in request && typeof request.requestId === "string" && request.requestId !== "";
}

/** The same transport, whose calls of one answer have a deadline and are repeated where that is safe. */
export function patient(transport: Transport, { timeoutMs = TIMEOUT_MS, retries = RETRIES }: Patience): Transport {
  return {
    stream: transport.stream.bind(transport),
    async unary(method, signal, callMs = timeoutMs || undefined, header, input, values) {
      const end = callMs === undefined ? Number.POSITIVE_INFINITY : Date.now() + callMs;
      for (let made = 0; ; made++) {
        const left = end === Number.POSITIVE_INFINITY ? undefined : Math.max(1, end - Date.now());
        try {
          return await transport.unary(method, signal, left, header, input, values);
        } catch (error) {
          const wait = made < retries ? waitBefore(error, made, method, input) : undefined;
          if (wait === undefined || Date.now() + wait >= end) throw error;
          await sleep(wait, undefined, { ...(signal && { signal }) }).catch(() => {
            throw error;
          });
        }
      }
    },
  };
}

/** How long to wait before a call is made again, in milliseconds; undefined where it is not. */
function waitBefore(
  error: unknown,
  made: number,
  method: DescMethodUnary,
  input: MessageInitShape<DescMethodUnary["input"]>,
): number | undefined {
  if (!isRepeatable(method, input)) return undefined;
  const { code, metadata } = ConnectError.from(error);
  const said = Number(metadata.get("retry-after") ?? Number.NaN) * 1_000;
  if (code === Code.ResourceExhausted) return said <= LONGEST_WAIT_MS ? said : undefined;
  if (code !== Code.Unavailable) return undefined;
  // Half of it by chance: clients that failed together must not come again together.
  const wait = Number.isNaN(said) ? FIRST_WAIT_MS * 2 ** made : said;
  return wait > LONGEST_WAIT_MS ? undefined : wait * (0.5 + Math.random() / 2);
}
