import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { CredentialService, type KeyUsageSchema } from "#proto/auth/v1/credential_service_pb.js";
import type { Credential } from "../rpc/call.js";
import type { Dispatch } from "../rpc/dispatch.js";
import type { Usage } from "./usage.js";

const DEADLINE_MS = 5_000;

/** How uses are reported to auth, and as whom. */
export interface UsageReportOptions {
  readonly dispatch: Dispatch;
  readonly credential: Credential;
}

/** Tells auth of uses. @throws ConnectError if it cannot be told. */
export async function reportUsage(
  { dispatch, credential }: UsageReportOptions,
  usages: readonly Usage[],
): Promise<void> {
  await dispatch.unary(
    CredentialService.method.reportUsage,
    { usages: usages.map(usageOf) },
    { credential, deadline: Date.now() + DEADLINE_MS },
  );
}

function usageOf({ keyId, uses, lastUsedAt, client, connectedAt }: Usage): MessageInitShape<typeof KeyUsageSchema> {
  return {
    ...{ keyId, uses, client, lastUsedAt: timestampFromMs(lastUsedAt) },
    ...(client !== "" && { clientConnectedAt: timestampFromMs(connectedAt) }),
  };
}
