import { existsSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { AuditKind, AuditRecordSchema } from "#proto/auth/v1/audit_service_pb.js";
import { openAuditTrail } from "../auth/audit-trail.js";
import { endSigningKeys } from "../auth/end-signing-keys.js";
import { openAuthStore } from "../auth/store.js";
import { silentLog } from "../shared/process/log.js";
import { openStore } from "../shared/store/open.js";
import type { Settings } from "./config.js";

type Needed = Pick<Settings, "dataDir" | "mongodbUri" | "auditDays" | "auditRecords">;

/**
 * Takes every signing key out of the store of a service that is stopped: the way to start without the key that
 * sealed them. The next start makes others.
 *
 * @throws Error in one line, where there is no store, or a service has it open.
 */
export async function resetSigningKeys(settings: Needed): Promise<{ readonly removedKeys: number }> {
  const { dataDir, mongodbUri, auditDays: days, auditRecords: records } = settings;
  if (mongodbUri === undefined && !existsSync(join(dataDir, "main", "data.mdb")))
    throw new Error(`${dataDir} has no store: set DATA_DIR to the service's data directory`);
  const store = await openStore({ mongodbUri, dataDir, log: silentLog });
  try {
    const auth = await openAuthStore(store);
    const removedKeys = await endSigningKeys(auth);
    const trail = openAuditTrail(auth, { days, records });
    await trail.append([
      create(AuditRecordSchema, {
        kind: AuditKind.ADMINISTRATION,
        byAdministrator: true,
        userId: `local:${userInfo().username}`,
        action: "reset-signing-keys",
        outcome: "ok",
        count: 1,
      }),
    ]);
    await trail.close();
    return { removedKeys };
  } finally {
    await store.close();
  }
}
