import { silentLog } from "../../../services/shared/process/log.js";
import { createTracesService } from "../../../services/traces/service.js";
import { type Rig, startRig } from "../core-objects/rig.js";

/** Starts core objects and traces in this process. */
export async function startTraces(retentionDays = 60): Promise<Rig> {
  const rig = await startRig();
  const { store, peers } = rig;
  rig.add(await createTracesService({ store, peers, log: silentLog, retentionDays }));
  return rig;
}
