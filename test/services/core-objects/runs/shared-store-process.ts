import { silentLog } from "../../../../services/shared/process/log.js";
import { openMongoStore } from "../../../../services/shared/store/mongo.js";
import { readImage } from "../../../../services/shared/tools/image.js";
import { readTools } from "../../../../services/shared/tools/tools.js";
import { createTracesService } from "../../../../services/traces/service.js";
import { startRig } from "../rig.js";
import { QUICK } from "./stage.js";

// A process that executes the runs of a database until its parent lets go of it.

const [uri, database, leaseMs = "15000"] = process.argv.slice(2);
const store = await openMongoStore(uri!, { database: database! });
const rig = await startRig({
  store,
  runs: { tools: readTools(readImage()), worker: { ...QUICK, leaseMs: Number(leaseMs) } },
});
rig.add(await createTracesService({ store, peers: rig.peers, log: silentLog, retentionDays: 30 }));
process.on("disconnect", async () => {
  await rig.close();
  await store.close();
  process.exit(0);
});
process.send!("ready");
