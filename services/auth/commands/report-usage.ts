import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { ReportUsageRequest, ReportUsageResponseSchema } from "#proto/auth/v1/credential_service_pb.js";
import type { Context } from "../context.js";
import { writeUsage } from "../usage-report.js";

/** Adds the uses that another process counted to the keys. */
export async function reportUsage(
  { store }: Context,
  { usages }: ReportUsageRequest,
): Promise<MessageInitShape<typeof ReportUsageResponseSchema>> {
  await writeUsage(
    store,
    usages.map(({ keyId, uses, lastUsedAt, client, clientConnectedAt }) => ({
      keyId,
      uses,
      lastUsedAt: lastUsedAt === undefined ? 0 : timestampMs(lastUsedAt),
      client,
      connectedAt: clientConnectedAt === undefined ? 0 : timestampMs(clientConnectedAt),
    })),
  );
  return {};
}
