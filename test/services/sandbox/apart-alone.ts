import { createApart } from "../../../services/sandbox/apart.js";
import { silentLog } from "../../../services/shared/process/log.js";

// A process that has nothing but a built-in platform, whose file is its argument: it changes something and ends.

const [, , file = ""] = process.argv;
const where = { host: "127.0.0.1", port: 0, trust: "http://127.0.0.1:9" };
const apart = createApart(silentLog);
const [aev] = await apart.start([{ ...where, server: "aev", file }]);
await (await fetch(`${aev}/api/players`, { method: "POST", headers: { connection: "close" } })).text();
await apart.close();
process.stdout.write("closed");
