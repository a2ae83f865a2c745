import { createAuthService } from "../../../services/auth/service.js";
import { silentLog } from "../../../services/shared/process/log.js";
import { openMongoStore } from "../../../services/shared/store/mongo.js";
import { SEAL, serve } from "./stack.js";

// An auth process on a MongoDB that others use too. Says on which port it listens.

const [uri, database, leaseMs, port] = process.argv.slice(2) as [string, string, string, string];
const store = await openMongoStore(uri, { database });
const service = await createAuthService({
  store,
  seal: SEAL,
  baseUrl: "https://sallyport.example",
  log: silentLog,
  leaseMs: Number(leaseMs),
});
const steps = { authenticator: service.authenticator, log: silentLog };
const server = await serve({ service, steps }, Number(port));
process.send?.(server.port);
process.on("disconnect", () => process.exit());
