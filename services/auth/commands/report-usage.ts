import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { ReportUsageRequest, ReportUsageResponseSchema } from "#proto/auth/v1/credential_service_pb.js";
import type { Parts } from "../parts.js";
import { writeUsage } from "../usage-report.js";

export async function reportUsage(
  { records }: Parts,
  { usages }: ReportUsageRequest,
): Promise<MessageInitShape<typeof ReportUsageResponseSchema>> {
  await writeUsage(
    records,
    usages.map(({ keyId, uses, lastUsedAt }) => ({
      keyId,
      uses,
      lastUsedAt: lastUsedAt === undefined ? 0 : timestampMs(lastUsedAt),
    })),
  );
  return {};
}
