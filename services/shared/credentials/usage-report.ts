import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { CredentialService, type KeyUsageSchema } from "#proto/auth/v1/credential_service_pb.js";
import type { Log } from "../process/log.js";
import type { Credential } from "../rpc/call.js";
import type { Dispatch } from "../rpc/dispatch.js";
import type { Usage, UsageCounter } from "./usage.js";

const DEADLINE_MS = 5_000;
/** Keys that one report tells of at most. */
const LIMIT = 10_000;

/** How uses are reported to auth, and as whom. */
export interface UsageReportOptions {
  readonly usage: UsageCounter;
  readonly dispatch: Dispatch;
  readonly credential: Credential;
  readonly log: Log;
}

function usageOf({ keyId, uses, lastUsedAt, client, connectedAt }: Usage): MessageInitShape<typeof KeyUsageSchema> {
  return {
    ...{ keyId, uses, client, lastUsedAt: timestampFromMs(lastUsedAt) },
    ...(client !== "" && { clientConnectedAt: timestampFromMs(connectedAt) }),
  };
}

/** Tells auth of all uses counted since the last report; where it cannot be told they are counted on. */
export async function reportUsage({ usage, dispatch, credential, log }: UsageReportOptions): Promise<void> {
  for (let taken = usage.take(LIMIT); taken.length > 0; taken = usage.take(LIMIT)) {
    try {
      await dispatch.unary(
        CredentialService.method.reportUsage,
        { usages: taken.map(usageOf) },
        { credential, deadline: Date.now() + DEADLINE_MS },
      );
    } catch (error) {
      usage.restore(taken);
      log.warn({ err: error }, "uses of API keys cannot be reported; they are kept and reported later");
      return;
    }
    // What is used meanwhile is for the next report: in a busy process there is always something.
    if (taken.length < LIMIT) return;
  }
}
