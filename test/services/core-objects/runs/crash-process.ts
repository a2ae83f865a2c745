import { once } from "node:events";
import type { RunRecord } from "../../../../services/core-objects/runs/record.js";
import { silentLog } from "../../../../services/shared/process/log.js";
import { createTracesService } from "../../../../services/traces/service.js";
import { startRig } from "../rig.js";

// A process that executes the runs of a store until none is left, or until it is killed. It is
// started beforehand, because loading takes the longest, and touches nothing until it is told to.

const [folder] = process.argv.slice(2);
const worker = { atOnce: 8, leaseMs: 300, turnRuns: 4, turnMs: 1_000, lookMs: 20 };
process.send!("loaded");
await once(process, "message");
const rig = await startRig({ folder: folder!, runs: { tools: [], worker } });
rig.add(await createTracesService({ store: rig.store, peers: rig.peers, log: silentLog, retentionDays: 30 }));
process.send!("ready");
const runs = rig.store.collection<RunRecord>("runs");
const timer = setInterval(async () => {
  const left = await runs.countDocuments({ due_at: { $gt: new Date(0) } });
  if (left > 0) return;
  clearInterval(timer);
  await rig.close();
  process.exit(0);
}, 50);
